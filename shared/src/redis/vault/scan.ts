import type { Redis } from 'ioredis';
import type { SealedRecord } from '../../ports/vault.ts';
import type { Commands } from '../client/connect.ts';
import { parseKey } from '../client/key-names.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { credentialKey, parseRecordKey, stagedKey, VAULT_KEYS } from './keys.ts';

const KEYS = 500;

/** Every sealed record of every master, page by page. */
export async function* scanRecords(
  redis: Commands,
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
      const records = await orUnavailable(
        () => Promise.all(keys.map((key) => readRecord(redis, key))),
        onError,
      );
      const found = records.filter((record) => record !== undefined);
      if (found.length > 0) yield found;
      cursor = next;
    } while (cursor !== '0');
  }
}

/** The key under which a record lies. */
export function recordKey(record: SealedRecord): string {
  return record.kind === 'staged' ? stagedKey(record.ref) : credentialKey(record.ref);
}

async function readRecord(redis: Commands, key: string): Promise<SealedRecord | undefined> {
  const name = parseKey(key);
  const record = name === undefined ? undefined : parseRecordKey(name);
  if (record === undefined) return undefined;
  const sealed = await redis.hget(key, 'sealed');
  return sealed === null ? undefined : { ...record, sealed };
}

function mastersOf(redis: Commands): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}
