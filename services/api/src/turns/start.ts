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
  /** The conversation that the client names; a new one when absent. */
  readonly conversationId: string | undefined;
  /** True: the conversation is in no list and counts for no quota of conversations; it goes with its last turn. */
  readonly isOneShot?: boolean;
  readonly messages: readonly ChatMessage[];
  /** The agent that the client names; the default one when absent. */
  readonly agent: string | undefined;
  /** The kinds of questions that the client can show. */
  readonly support: Support;
  readonly delivery: Delivery;
  /** As the client sent it; `startTurn` checks its form. */
  readonly idempotencyKey?: string | undefined;
  /** True once the pod drains: no turn begins then. */
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
 * Begins the turn that a request asks for. Throws `invalid_request`, `idempotency_mismatch`, `turn_running`,
 * `rate_limited` and `unavailable`.
 */
export async function startTurn(
  turns: Pick<Turns, 'begin' | 'admitToAgent'>,
  request: StartRequest,
): Promise<StartedTurn> {
  const { caller, support, delivery } = request;
  // A request that is refused before its admission is awaited leaves no rejection without a handler.
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

/** The error of a request that reaches a pod which drains; another pod serves it. */
export function podDraining(): ParleyError {
  return new ParleyError('unavailable', 'This pod is stopping; ask again.', { retryAfterSeconds: 1 });
}

/** The key of a request with the digest of what it asks for; nothing without a key. */
function repeatableOf(
  { idempotencyKey, agent, conversationId }: StartRequest,
  { before, input }: TurnMessages,
): Parameters<Turns['begin']>[0]['repeatable'] {
  const key = parseIdempotencyKey(idempotencyKey);
  if (key === undefined) return undefined;
  const text = JSON.stringify([agent ?? null, conversationId ?? null, before, input]);
  return { key, digest: sha256(text) };
}
