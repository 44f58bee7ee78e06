/** The names and digests by which calls are found again. Which call a request joins is decided in `waiting/call-keys.ts`. */

import { randomBytes } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import { keyedStreamRequestId, type Owner } from '@parley/core/domain/ids';
import type { Run, RunRef, Support } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import type { RequestedRead } from './content.ts';
import type { RequestId } from './json-rpc.ts';
import { CALL_KINDS, type CallKind } from './outcome.ts';

/** The identity of a call in addition to its key. */
export interface CallName {
  /** Made by `joinDigest`. */
  readonly digest: string;
  readonly kind: CallKind;
}

/** A request of a session. Its id is unique within the session. */
export interface RequestName {
  readonly sessionId: string;
  readonly id: RequestId;
}

/** Identifies a tool, or a read method, with its arguments. The order of keys in the arguments does not matter. */
export function callDigest(name: string, args: unknown, { isRead = false } = {}): string {
  return sha256(JSON.stringify([name, sorted(args), ...(isRead ? ['read'] : [])]));
}

/** A read as a call: its method as the name, and its parameters as the arguments. */
export function callOfRead({ method, ...params }: RequestedRead) {
  return { name: method, arguments: params };
}

/**
 * Identifies calls that may be joined into one. Clients with different capabilities have separate calls. So have OAuth clients
 * with apps, because the card finds its call by this digest.
 */
export function joinDigest({
  name,
  arguments: args,
  read,
  clientId,
  support: { form, url, apps, services },
}: {
  readonly name: string;
  readonly arguments: unknown;
  readonly read?: RequestedRead | undefined;
  readonly clientId?: string | undefined;
  readonly support: Pick<Support, 'form' | 'url' | 'apps' | 'services'>;
}): string {
  const more = [
    ...(apps ? ['apps', ...(clientId === undefined ? [] : [clientId])] : []),
    ...(services === undefined ? [] : [services]),
  ];
  return sha256(JSON.stringify([callDigest(name, args, { isRead: read !== undefined }), form, url, ...more]));
}

/** A request as a short text: its session, and a digest of its id. */
export function textOfRequest({ sessionId, id }: RequestName): string {
  return `${sessionId}/${sha256(JSON.stringify(id))}`;
}

const KEY_BYTES = 16;
const CONVERSATION = 'conv_mcp-';

/** The key of a call, which its conversation contains. */
export function keyOfCall({ conversationId }: Pick<RunRef, 'conversationId'>): string {
  return conversationId.slice(CONVERSATION.length);
}

/** True for the run of a call, and false for the run of a delegate. */
export function isCall({ conversationId, parent }: Pick<Run, 'conversationId' | 'parent'>): boolean {
  return conversationId.startsWith(CONVERSATION) && parent === undefined;
}

/** Finds the run of a call by its key. */
export async function runOfCall(owner: Owner, key: string): Promise<RunRef> {
  const { tenant, userId } = owner;
  // Idempotency keys of callers cannot contain a space, so they never collide with this one.
  const streamRequestId = await keyedStreamRequestId(owner, `mcp ${key}`);
  return { tenant, userId, streamRequestId, conversationId: `${CONVERSATION}${key}` };
}

/** Parses the record of a request: the call that the request began. */
export function storedCall(stored: string): CallName & { readonly key: string } {
  const [key = '', digest = '', kind] = stored.split('.');
  return { key, digest, kind: CALL_KINDS.find((known) => known === kind) ?? 'agent' };
}

/** A new unique name. */
export function newName(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** Throws `invalid_request` if the message for an agent is missing. */
export function checkMessage({ message }: Readonly<Record<string, unknown>>): void {
  if (typeof message === 'string' && message.trim() !== '') return;
  throw new ParleyError('invalid_request', 'The arguments are not well formed; see errors.', {
    issues: [{ path: 'message', message: 'must be text' }],
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
