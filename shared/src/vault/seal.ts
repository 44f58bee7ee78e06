import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { CredentialRef } from '../domain/credential.ts';
import type { KeyRing } from './key-ring.ts';

/** What a sealed record is: it opens as nothing else and for nobody else. */
export interface SealIdentity extends CredentialRef {
  readonly purpose: 'credential' | 'staged' | 'flow';
  /** Tells records of one purpose and one credential apart; empty where there is only one. */
  readonly recordId: string;
}

export type SealFault = 'malformed' | 'unknown_key' | 'not_authentic' | 'not_a_credential';

/** Something sealed does not open. Holds neither what was sealed nor the record itself. */
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
// A fresh random one per encryption, of the length SP 800-38D recommends. Data keys encrypt once; a master key may
// wrap 2^32 data keys before the chance of two equal ones matters.
const IV_BYTES = 12;
const TAG_BYTES = 16;

interface Envelope {
  readonly keyId: string;
  readonly wrappedKey: Buffer;
  readonly data: Buffer;
}

/**
 * Seals `text` for one identity: AES-256-GCM under a key of its own, which is wrapped by the active master key. Gives
 * `v1.<id of the master key>.<wrapped key>.<data>`, the last two as base64url of IV, ciphertext and tag.
 */
export function seal(keys: KeyRing, identity: SealIdentity, text: string): string {
  const dataKey = randomBytes(KEY_BYTES);
  const data = encrypt(dataKey, boundTo('data', identity), Buffer.from(text, 'utf8'));
  return wrapped(keys, identity, dataKey, data);
}

/** What was sealed. Throws SealError when the record was changed, is another's, or its master key is not in the ring. */
export function unseal(keys: KeyRing, identity: SealIdentity, sealed: string): string {
  const envelope = parse(sealed);
  const dataKey = unwrapped(keys, identity, envelope);
  const text = decrypt(dataKey, boundTo('data', identity), envelope.data).toString('utf8');
  dataKey.fill(0);
  return text;
}

/** The same record with its key wrapped by the active master key; what is sealed is not touched. Throws as `unseal`. */
export function rewrap(keys: KeyRing, identity: SealIdentity, sealed: string): string {
  const envelope = parse(sealed);
  return wrapped(keys, identity, unwrapped(keys, identity, envelope), envelope.data);
}

/** The id of the master key that a record needs. Throws SealError when it is no record. */
export function keyIdOf(sealed: string): string {
  return parse(sealed).keyId;
}

function wrapped(keys: KeyRing, identity: SealIdentity, dataKey: Buffer, data: Buffer): string {
  const keyId = keys.activeId;
  const wrappedKey = encrypt(masterKey(keys, keyId), boundTo(`key ${keyId}`, identity), dataKey);
  dataKey.fill(0);
  return [VERSION, keyId, wrappedKey.toString('base64url'), data.toString('base64url')].join('.');
}

function unwrapped(keys: KeyRing, identity: SealIdentity, { keyId, wrappedKey }: Envelope): Buffer {
  return decrypt(masterKey(keys, keyId), boundTo(`key ${keyId}`, identity), wrappedKey);
}

function masterKey(keys: KeyRing, id: string): KeyObject {
  const key = keys.keyOf(id);
  if (key !== undefined) return key;
  throw new SealError(
    'unknown_key',
    `A sealed record needs the key \`${id}\`, which PARLEY_VAULT_KEYS lacks.`,
  );
}

/** An array as JSON reads in one way only, whatever its texts hold. */
function boundTo(
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
    throw new SealError('not_authentic', 'A sealed record was changed, or is not what it was read as.');
  }
}

function parse(sealed: string): Envelope {
  const [version, keyId, wrappedKey, data, ...others] = sealed.split('.');
  if (version !== VERSION || keyId === undefined || others.length > 0) throw malformed();
  return { keyId, wrappedKey: bytesOf(wrappedKey), data: bytesOf(data) };
}

/** Node's decoder takes many texts for the same bytes; a record has one. */
function bytesOf(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (text === undefined || bytes.toString('base64url') !== text) throw malformed();
  return bytes;
}

function malformed(): SealError {
  return new SealError('malformed', 'What should be a sealed record is none.');
}
