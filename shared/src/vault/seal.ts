/**
 * Envelope encryption of all secrets: AES-256-GCM under a data key that a master key wraps, bound to an identity. Where sealed
 * texts are stored is not known here.
 */

import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { CredentialRef } from '../domain/credential.ts';
import type { SealedKind } from '../ports/sealed.ts';
import type { KeyRing } from './key-ring.ts';

/** The identity to which a record is sealed. It opens only with the same identity. */
export interface SealIdentity extends CredentialRef {
  readonly purpose: SealedKind;
  /** Distinguishes records with the same purpose and credential. Empty when there is only one. */
  readonly recordId: string;
}

type SealFault = 'malformed' | 'unknown_key' | 'not_authentic' | 'not_a_credential';

/** A sealed record does not open. The error contains neither the content nor the record. */
export class SealError extends Error {
  readonly fault: SealFault;

  constructor(fault: SealFault, message: string) {
    super(message);
    this.name = 'SealError';
    this.fault = fault;
  }
}

const VERSION = 'v1';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
// IVs are random, with the length that SP 800-38D recommends. A data key encrypts only once. A master key may wrap 2^32 data
// keys before the risk of an IV collision matters.
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Envelope {
  readonly keyId: string;
  readonly wrappedKey: Buffer;
  readonly data: Buffer;
}

/**
 * Seals `text` for one identity with AES-256-GCM, under a random data key that the active master key wraps. Returns `v1.<id of
 * the master key>.<wrapped key>.<data>`, where the last two are base64url of IV, ciphertext and tag.
 */
export function seal(keys: KeyRing, identity: SealIdentity, text: string): string {
  const dataKey = randomBytes(KEY_BYTES);
  const data = encrypt(dataKey, authenticatedData('data', identity), Buffer.from(text, 'utf8'));
  return wrapped(keys, identity, dataKey, data);
}

/** Opens a record. Throws SealError when the record was changed, has another identity, or its master key is not in the ring. */
export function unseal(keys: KeyRing, identity: SealIdentity, sealed: string): string {
  const envelope = parse(sealed);
  const dataKey = unwrapped(keys, identity, envelope);
  const text = decrypt(dataKey, authenticatedData('data', identity), envelope.data).toString('utf8');
  dataKey.fill(0);
  return text;
}

/** The same record with its data key wrapped by the active master key; the data is unchanged. Throws like `unseal`. */
export function rewrap(keys: KeyRing, identity: SealIdentity, sealed: string): string {
  const envelope = parse(sealed);
  return wrapped(keys, identity, unwrapped(keys, identity, envelope), envelope.data);
}

/** The id of the master key that a record needs. Throws SealError when the text is not a record. */
export function keyIdOf(sealed: string): string {
  return parse(sealed).keyId;
}

function wrapped(keys: KeyRing, identity: SealIdentity, dataKey: Buffer, data: Buffer): string {
  const keyId = keys.activeId;
  const wrappedKey = encrypt(masterKey(keys, keyId), authenticatedData(`key ${keyId}`, identity), dataKey);
  dataKey.fill(0);
  return [VERSION, keyId, wrappedKey.toString('base64url'), data.toString('base64url')].join('.');
}

function unwrapped(keys: KeyRing, identity: SealIdentity, { keyId, wrappedKey }: Envelope): Buffer {
  return decrypt(masterKey(keys, keyId), authenticatedData(`key ${keyId}`, identity), wrappedKey);
}

function masterKey(keys: KeyRing, id: string): KeyObject {
  const key = keys.keyOf(id);
  if (key !== undefined) return key;
  throw new SealError(
    'unknown_key',
    `A sealed record needs the key \`${id}\`, which PARLEY_VAULT_KEYS lacks.`,
  );
}

/** The additional authenticated data. A JSON array is unambiguous, whatever the texts contain. */
function authenticatedData(
  part: string,
  { purpose, recordId, tenant, userId, toolId, connectorId }: SealIdentity,
): Buffer {
  return Buffer.from(
    JSON.stringify([VERSION, part, purpose, recordId, tenant, userId, toolId, connectorId]),
    'utf8',
  );
}

function encrypt(key: KeyObject | Buffer, bound: Buffer, plain: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(bound);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: KeyObject | Buffer, bound: Buffer, box: Buffer): Buffer {
  if (box.length < IV_BYTES + TAG_BYTES) throw malformed();
  const decipher = createDecipheriv(ALGORITHM, key, box.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(bound);
  decipher.setAuthTag(box.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(box.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw new SealError('not_authentic', 'A sealed record was changed, or was sealed for another identity.');
  }
}

function parse(sealed: string): Envelope {
  const [version, keyId, wrappedKey, data, ...others] = sealed.split('.');
  if (version !== VERSION || keyId === undefined || others.length > 0) throw malformed();
  return { keyId, wrappedKey: bytesOf(wrappedKey), data: bytesOf(data) };
}

/** Node's decoder accepts several texts for the same bytes, but a record has exactly one form. */
function bytesOf(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (text === undefined || bytes.toString('base64url') !== text) throw malformed();
  return bytes;
}

function malformed(): SealError {
  return new SealError('malformed', 'The text is not a sealed record.');
}
