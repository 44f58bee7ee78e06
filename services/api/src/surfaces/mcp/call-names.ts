import { randomBytes } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import { keyedStreamRequestId, type Owner } from '@parley/core/domain/ids';
import type { Run, RunRef, Support } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import type { RequestedRead } from './content.ts';
import type { RequestId } from './json-rpc.ts';
import { CALL_KINDS, type CallKind } from './outcome.ts';

/** What a call is, beside its key. */
export interface CallName {
  /** As `joinDigest`. */
  readonly digest: string;
  readonly kind: CallKind;
}

/** A request of a session. Its id is unique there. */
export interface RequestName {
  readonly sessionId: string;
  readonly id: RequestId;
}

/** Identifies a tool, or a method that reads, and its arguments, in whatever order their keys come. */
export function callDigest(name: string, args: unknown, { isRead = false } = {}): string {
  return sha256(JSON.stringify([name, sorted(args), ...(isRead ? ['read'] : [])]));
}

/** The name and the arguments of a read, as those of a call. */
export function callOfRead({ method, ...params }: RequestedRead) {
  return { name: method, arguments: params };
}

/**
 * Identifies calls that may be one. A client that can show more, or less, is asked by a call of its own. So is each OAuth client
 * with apps, because the card finds a call by this.
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

/** The key of a call, by its conversation. */
export function keyOfCall({ conversationId }: Pick<RunRef, 'conversationId'>): string {
  return conversationId.slice(CONVERSATION.length);
}

/** True for the run of a call, and not for one that works for it. */
export function isCall({ conversationId, parent }: Pick<Run, 'conversationId' | 'parent'>): boolean {
  return conversationId.startsWith(CONVERSATION) && parent === undefined;
}

/** The run of a call, by its key. */
export async function runOfCall(owner: Owner, key: string): Promise<RunRef> {
  const { tenant, userId } = owner;
  // Callers cannot send an idempotency key with a space, so no key of theirs collides with this one.
  const streamRequestId = await keyedStreamRequestId(owner, `mcp ${key}`);
  return { tenant, userId, streamRequestId, conversationId: `${CONVERSATION}${key}` };
}

/** The call that a request began, as its record names it. */
export function storedCall(stored: string): CallName & { readonly key: string } {
  const [key = '', digest = '', kind] = stored.split('.');
  return { key, digest, kind: CALL_KINDS.find((known) => known === kind) ?? 'agent' };
}

/** A name that nothing else has. */
export function newName(): string {
  return randomBytes(KEY_BYTES).toString('base64url');
}

/** Throws `invalid_request` where an agent gets no message. */
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
