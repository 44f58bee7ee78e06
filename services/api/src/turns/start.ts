import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { parseIdempotencyKey } from '@parley/shared/domain/idempotency-key';
import type { Delivery, Support } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import { type ChatMessage, readTurnMessages, type TurnMessages } from './messages.ts';
import { principalOf } from './principal.ts';
import type { BegunTurn, Turns } from './turns.ts';

/** A request for a turn, as a surface reads it from its protocol. */
export interface StartRequest {
  readonly caller: Caller;
  /** The conversation that the client names; absent: a new one. */
  readonly conversationId: string | undefined;
  /**
   * True if the conversation appears in no list, does not count against the quota of conversations, and is deleted with its
   * last turn.
   */
  readonly isOneShot?: boolean;
  readonly messages: readonly ChatMessage[];
  /** The agent that the client names; absent: the default agent. */
  readonly agent: string | undefined;
  /** The kinds of questions that the client can show. */
  readonly support: Support;
  readonly delivery: Delivery;
  /** The key as the client sent it; `startTurn` checks it. */
  readonly idempotencyKey?: string | undefined;
  /** True once the pod drains. Then no turn begins. */
  readonly draining: boolean;
  /** Resolves when the caller's budget admits the request. */
  readonly admitted: Promise<void>;
}

/** A turn that a request began, or that an earlier request with the same key had begun. */
export interface StartedTurn {
  readonly run: BegunTurn;
  /** True when the client can send the request again under its key. */
  readonly isRepeatable: boolean;
}

/**
 * Begins the turn that is requested. Throws `invalid_request`, `idempotency_mismatch`, `turn_running`, `rate_limited` and
 * `unavailable`.
 */
export async function startTurn(
  turns: Pick<Turns, 'begin' | 'admitToAgent'>,
  request: StartRequest,
): Promise<StartedTurn> {
  const { caller, support, delivery } = request;
  // If the request is refused before its admission is awaited, a rejection of the admission must not stay unhandled.
  request.admitted.catch(() => undefined);
  if (request.draining) throw podDraining();
  const conversation = readTurnMessages(request.messages);
  const repeatable = repeatableOf(request, conversation);
  await request.admitted;
  const conversationId = request.conversationId ?? `conv_${randomUUID()}`;
  const run = await turns.begin({
    conversation: { ...principalOf(caller), conversationId },
    agent: turns.admitToAgent(caller, request.agent),
    ...conversation,
    support,
    delivery,
    ...(request.isOneShot === true && { unlisted: true as const }),
    ...(repeatable !== undefined && { repeatable }),
  });
  return { run, isRepeatable: repeatable !== undefined };
}

/** The error for a request to a draining pod. Another pod will serve it. */
export function podDraining(): ParleyError {
  return new ParleyError('unavailable', 'This pod is stopping; ask again.', { retryAfterSeconds: 1 });
}

/** The request's key with a digest of its content; undefined without a key. */
function repeatableOf(
  { idempotencyKey, agent, conversationId }: StartRequest,
  { before, input }: TurnMessages,
): Parameters<Turns['begin']>[0]['repeatable'] {
  const key = parseIdempotencyKey(idempotencyKey);
  if (key === undefined) return undefined;
  const text = JSON.stringify([agent ?? null, conversationId ?? null, before, input]);
  return { key, digest: sha256(text) };
}
