import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';

/** Readable and writable by the owner alone. */
const PRIVATE = 0o600;

/**
 * Writes what only its owner may read into a new file beside `file`, and returns its path. Its name cannot be foreseen, and
 * nothing that is there already is written through: neither a file of another mode nor a symbolic link.
 */
export function writeDraft(file: string, data: string | Uint8Array): string {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, data, { mode: PRIVATE, flag: 'wx' });
  return draft;
}

/** Replaces a file by one that only its owner may read, whole or not at all. */
export function writePrivateFile(file: string, data: string): void {
  renameSync(writeDraft(file, data), file);
}
