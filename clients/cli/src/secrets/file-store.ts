import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '@parley/core/domain/plain-record';
import { CliError, EXIT } from '../exit-code.ts';
import { writeDraft, writePrivateFile } from '../private-file.ts';
import type { SecretStore } from './store.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;

/**
 * Stores secrets in an encrypted file, for machines without a keyring: AES-256-GCM for each secret, bound to its name, under a
 * random key in a second file. Only the owner can read both files. This protects a copy of one file without the other, but not
 * against programs of the same user.
 */
export function createFileStore(folder: string): SecretStore {
  const file = join(folder, 'secrets.json');
  const keyFile = join(folder, 'secrets.key');

  function write(secrets: ReadonlyMap<string, string>): void {
    writePrivateFile(file, `${JSON.stringify(Object.fromEntries(secrets))}\n`);
  }

  return {
    place: file,
    async set(name, value) {
      write(readSecrets(file).set(name, seal(readKey(keyFile), name, value)));
    },
    async get(name) {
      const sealed = readSecrets(file).get(name);
      return sealed === undefined ? undefined : unseal(readKey(keyFile), name, sealed);
    },
    async remove(name) {
      const secrets = readSecrets(file);
      const removed = secrets.delete(name);
      if (removed) write(secrets);
      return removed;
    },
  };
}

/** The sealed secrets by name. A Map is used because a name may be that of an inherited property, such as `constructor`. */
function readSecrets(file: string): Map<string, string> {
  const text = readOrNothing(file);
  const value: unknown = text === undefined ? {} : JSON.parse(text.toString('utf8'));
  return new Map(isRecord(value) ? Object.entries(value as Record<string, string>) : []);
}

/** Reads the key, and creates it once, even if two processes try at the same time. */
function readKey(file: string): Buffer {
  const known = readOrNothing(file);
  if (known !== undefined) return known;
  const draft = writeDraft(file, randomBytes(KEY_BYTES));
  try {
    linkSync(draft, file);
  } catch {
    // Another process created the key first, so that one is read.
  } finally {
    rmSync(draft);
  }
  return readFileSync(file);
}

function readOrNothing(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function seal(key: Buffer, name: string, value: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
  const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return [nonce, text, cipher.getAuthTag()].map((part) => part.toString('base64url')).join('.');
}

function unseal(key: Buffer, name: string, sealed: string): string {
  const [nonce = '', text = '', tag = ''] = sealed.split('.');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'))
    .setAAD(Buffer.from(name))
    .setAuthTag(Buffer.from(tag, 'base64url'));
  try {
    return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    throw new CliError(
      EXIT.failed,
      'unreadable_secret',
      'The secret cannot be read: its file or its key was changed.',
    );
  }
}
