import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';

/** Only the owner may read and write. */
const PRIVATE = 0o600;

/**
 * Writes data that only its owner may read to a new file beside `file`, and returns the path. The name is random, and an
 * existing file or symbolic link is never opened, so nobody can prepare one.
 */
export function writeDraft(file: string, data: string | Uint8Array): string {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, data, { mode: PRIVATE, flag: 'wx' });
  return draft;
}

/** Atomically replaces a file by one that only its owner may read. */
export function writePrivateFile(file: string, data: string): void {
  renameSync(writeDraft(file, data), file);
}
