import type { FamilyTypes } from '@parley/core/domain/family';
import { type StoredRecords, storedRecordOf } from '../../ports/elicitations/elicitations.ts';
import { loadScript } from '../client/script.ts';
import { readPage } from './page.ts';
import type { RedisRecordsDeps } from './records.ts';
import { createRowReader } from './row-reader.ts';

/** The rows of all families in Redis. */
export function createRedisStoredRecords({ redis, settings, onError }: RedisRecordsDeps): StoredRecords {
  const pageScript = loadScript(redis, 'elicitations/page', onError);
  const reader = createRowReader<FamilyTypes>(redis, onError);
  return {
    async readMany(ids) {
      const { rows, now } = await reader.readMany(ids);
      return { records: rows.map((row) => (row === undefined ? undefined : storedRecordOf(row))), now };
    },
    async openPage(request) {
      // An inbox contains only open rows.
      const scope = { ...request, idPrefix: '', sets: { open: true, ended: false } };
      const { rows, ...page } = await readPage<FamilyTypes>(pageScript, settings.pageBytesMax, scope);
      return { ...page, records: rows.map(storedRecordOf) };
    },
  };
}
