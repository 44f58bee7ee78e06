import { createHash } from 'node:crypto';
import { keyedStreamRequestId, type Owner } from '@parley/shared/domain/ids';
import type { RunRef, Support } from '@parley/shared/domain/runs/run';
import type { RequestId } from './json-rpc.ts';

/** A request of a session. Its id is unique there. */
export interface RequestName {
  readonly sessionId: string;
  readonly id: RequestId;
}

/** Identifies a tool and its arguments, in whatever order their keys come. */
export function callDigest(name: string, args: unknown): string {
  return sha256(JSON.stringify([name, sorted(args)]));
}

/** Identifies calls that may be one. A client that can show more, or less, is asked by a call of its own. */
export function joinDigest({
  name,
  arguments: args,
  support: { form, url, apps, services },
}: {
  readonly name: string;
  readonly arguments: unknown;
  readonly support: Pick<Support, 'form' | 'url' | 'apps' | 'services'>;
}): string {
  const more = [...(apps ? ['apps'] : []), ...(services === undefined ? [] : [services])];
  return sha256(JSON.stringify([callDigest(name, args), form, url, ...more]));
}

/** A request as a short text: its session, and a digest of its id. */
export function textOfRequest({ sessionId, id }: RequestName): string {
  return `${sessionId}/${sha256(JSON.stringify(id))}`;
}

const CONVERSATION = 'conv_mcp-';

/** The key of a call, by its conversation. */
export function keyOfCall({ conversationId }: Pick<RunRef, 'conversationId'>): string {
  return conversationId.slice(CONVERSATION.length);
}

/** The run of a call, by its key. */
export async function runOfCall(owner: Owner, key: string): Promise<RunRef> {
  const { tenant, userId } = owner;
  // Callers cannot send an idempotency key with a space, so no key of theirs collides with this one.
  const streamRequestId = await keyedStreamRequestId(owner, `mcp ${key}`);
  return { tenant, userId, streamRequestId, conversationId: `${CONVERSATION}${key}` };
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

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
