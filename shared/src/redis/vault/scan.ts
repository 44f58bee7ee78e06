import type { Redis } from 'ioredis';
import type { SealedRecord } from '../../ports/vault.ts';
import type { Commands } from '../client/connect.ts';
import { parseKey } from '../client/key-names.ts';
import type { Script } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import {
  credentialKey,
  flowMember,
  listKey,
  parseRecordKey,
  type RecordName,
  recordMember,
  stagedKey,
  VAULT_KEYS,
} from './keys.ts';

const KEYS = 500;

/** Every sealed record of every master, page by page. Each is read by the script `vault/read-listed`. */
export async function* scanRecords(
  redis: Commands,
  readListed: Script,
  onError?: (error: unknown) => void,
  signal?: AbortSignal,
): AsyncGenerator<readonly SealedRecord[]> {
  for (const server of mastersOf(redis)) {
    let cursor = '0';
    do {
      signal?.throwIfAborted();
      const at = cursor;
      const [next, keys] = await orUnavailable(
        () => server.scan(at, 'MATCH', VAULT_KEYS, 'COUNT', KEYS),
        onError,
      );
      const records = await Promise.all(keys.map((key) => readRecord(readListed, key)));
      const found = records.filter((record) => record !== undefined);
      if (found.length > 0) yield found;
      cursor = next;
    } while (cursor !== '0');
  }
}

/** The key under which a record lies. */
export function recordKey(record: RecordName): string {
  return record.kind === 'staged' ? stagedKey(record.ref) : credentialKey(record.ref);
}

async function readRecord(readListed: Script, key: string): Promise<SealedRecord | undefined> {
  const name = parseKey(key);
  const record = name === undefined ? undefined : parseRecordKey(name);
  if (record === undefined) return undefined;
  const member = record.kind === 'staged' ? flowMember(record.ref) : recordMember(record.ref);
  const sealed = (await readListed([recordKey(record), listKey(record.ref)], [member])) as string | null;
  return sealed === null ? undefined : { ...record, sealed };
}

function mastersOf(redis: Commands): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}
