/**
 * The ids of all things, and the buckets of their owners. All data of one owner is in one bucket, so that one script call can
 * access it on Redis Cluster; an elicitation id contains its bucket, so that the id alone is enough to find the row. The names
 * of Redis keys are not here.
 */

export const BUCKET_COUNT = 64;

const RANDOM_BYTES = 16;
const ELICITATION_ID = /^el_([0-5][0-9]|6[0-3])[A-Za-z0-9_-]{22}$/;
const APPROVAL_ID = /^ap_([0-5][0-9]|6[0-3])[A-Za-z0-9_-]{22}$/;
const RECORD_ID = /^(?:el|ap)_([0-5][0-9]|6[0-3])[A-Za-z0-9_-]{22}$/;
const MINTED_PREFIXES = ['el_', 'sr_'];
/** The form of a tenant name in tokens and settings. */
export const TENANT_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** The form of an id that may be looked up. `.` and `..` are excluded, because a URL parser would remove them from a path. */
export const REFERENCE_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

/** The id prefixes of the record families: elicitations and approvals (`family.ts`). */
export type FamilyPrefix = 'el' | 'ap';

/** The person to whom a record belongs. */
export interface Owner {
  readonly tenant: string;
  readonly userId: string;
}

export function isSameOwner(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.userId === other.userId;
}

/** The stream request of a turn or question, together with its owner. */
export interface StreamRef extends Owner {
  readonly streamRequestId: string;
}

/** Writes a stream reference as `<tenant>/<user>/<streamRequestId>`, each part percent-encoded. */
export function formatStreamPath({ tenant, userId, streamRequestId }: StreamRef): string {
  return `${formatOwnerPath({ tenant, userId })}/${encodeURIComponent(streamRequestId)}`;
}

/** The common prefix of the paths of an owner's stream requests, including the slash. */
export function formatOwnerPath({ tenant, userId }: Owner): string {
  return [tenant, userId].map(encodeURIComponent).join('/');
}

/** Parses the output of `formatStreamPath`. Undefined for any other text. */
export function parseStreamPath(path: string): StreamRef | undefined {
  const parts = path.split('/');
  if (parts.length !== 3) return undefined;
  try {
    const [tenant = '', userId = '', streamRequestId = ''] = parts.map(decodeURIComponent);
    return { tenant, userId, streamRequestId };
  } catch {
    return undefined;
  }
}

/** Mints an elicitation id: `el_`, two digits for the bucket, 128 random bits. */
export function mintElicitationId(owner: Owner): string {
  return mintRecordId('el', owner);
}

/** Mints the id of a record of any family, in the same form. */
export function mintRecordId(prefix: FamilyPrefix, owner: Owner): string {
  return `${prefix}_${String(bucketOf(owner)).padStart(2, '0')}${randomPart()}`;
}

/** The id of the message for a turn's reply, in its stream and in the history. */
export function messageIdOf(streamRequestId: string): string {
  return `msg_${streamRequestId.slice(3)}`;
}

/**
 * The stream request of a question whose asker chose none. No caller may choose this id and no turn has it, so the question is
 * alone on it.
 */
export function ownStreamOf(elicitationId: string): string {
  return `sr_${elicitationId.slice(3)}`;
}

/** The elicitation for which `ownStreamOf` gives this stream request. Undefined for all others. */
export function elicitationOfOwnStream(streamRequestId: string): string | undefined {
  const id = `el_${streamRequestId.slice(3)}`;
  return isMintedStream(streamRequestId) && bucketOfElicitationId(id) !== undefined ? id : undefined;
}

/** Mints the stream request id of a turn. */
export function mintStreamRequestId(): string {
  return `sr_${randomPart()}`;
}

/**
 * Derives a stream request id from an idempotency key. The same owner and key always give the same id. It has the form of a
 * minted id, and reveals nothing about other owners with the same key.
 */
export async function keyedStreamRequestId({ tenant, userId }: Owner, key: string): Promise<string> {
  const name = new TextEncoder().encode(JSON.stringify([tenant, userId, key]));
  return `sr_${idText(new Uint8Array(await crypto.subtle.digest('SHA-256', name)))}`;
}

/** The bucket in an elicitation id. Undefined when Parley cannot have minted the id. */
export function bucketOfElicitationId(id: string): number | undefined {
  const match = ELICITATION_ID.exec(id);
  return match === null ? undefined : Number(match[1]);
}

/** True for an id that Parley can have minted for an approval. */
export function isApprovalId(id: string): boolean {
  return APPROVAL_ID.test(id);
}

/** The bucket in the id of a record of any family. Undefined when Parley cannot have minted the id. */
export function bucketOfRecordId(id: string): number | undefined {
  const match = RECORD_ID.exec(id);
  return match === null ? undefined : Number(match[1]);
}

/** The bucket (0 to 63) of an owner: FNV-1a over tenant and user, finished with an avalanche step. */
export function bucketOf(owner: Owner): number {
  return hash32(`${owner.tenant}\u0000${owner.userId}`) % BUCKET_COUNT;
}

/** The bucket of a tenant's name that has no single owner, or none yet. */
export function bucketOfName(tenant: string, name: string): number {
  return hash32(`${tenant}\u0001${name}`) % BUCKET_COUNT;
}

/** True for a stream request that Parley minted. Only Parley writes to it, so its size needs no further limit. */
export function isMintedStream(streamRequestId: string): boolean {
  return streamRequestId.startsWith('sr_');
}

/** True for an id that a caller may choose: `[A-Za-z0-9._-]{1,128}` except `.` and `..`, without the prefix of a minted id. */
export function isCallerId(id: string): boolean {
  return isReferenceId(id) && !MINTED_PREFIXES.some((prefix) => id.startsWith(prefix));
}

/** True for an id that may be looked up: chosen by a caller or minted by Parley. */
export function isReferenceId(id: string): boolean {
  return REFERENCE_ID.test(id);
}

function randomPart(): string {
  return idText(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));
}

function idText(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22);
}

function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
