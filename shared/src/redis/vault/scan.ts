import type { SealedKindsOf, SealedRecord } from '../../ports/sealed.ts';
import type { Commands } from '../client/connect.ts';
import { parseKey } from '../client/key-names.ts';
import { scanKeys } from '../client/scan-keys.ts';
import type { Script } from '../client/script.ts';
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

type VaultRecord = SealedRecord<SealedKindsOf<'vault'>>;

/** All sealed records on all masters, in pages. The script `vault/read-listed` reads each of them. */
export async function* scanRecords(
  redis: Commands,
  readListed: Script,
  onError?: (error: unknown) => void,
  signal?: AbortSignal,
): AsyncGenerator<readonly VaultRecord[]> {
  for await (const keys of scanKeys(redis, VAULT_KEYS, onError, signal)) {
    const records = await Promise.all(keys.map((key) => readRecord(readListed, key)));
    const found = records.filter((record) => record !== undefined);
    if (found.length > 0) yield found;
  }
}

/** The key of a record. */
export function recordKey(record: RecordName): string {
  return record.kind === 'staged' ? stagedKey(record.ref) : credentialKey(record.ref);
}

async function readRecord(readListed: Script, key: string): Promise<VaultRecord | undefined> {
  const name = parseKey(key);
  const record = name === undefined ? undefined : parseRecordKey(name);
  if (record === undefined) return undefined;
  const member = record.kind === 'staged' ? flowMember(record.ref) : recordMember(record.ref);
  const sealed = (await readListed([recordKey(record), listKey(record.ref)], [member])) as string | null;
  return sealed === null ? undefined : { ...record, sealed };
}
