import { BY_MESSAGE } from '@parley/shared/domain/approvals/outcome';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { isApprovalEnded } from '@parley/shared/domain/approvals/status';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { isParleyError } from '@parley/shared/domain/errors';
import type { StreamRef } from '@parley/shared/domain/ids';
import { endsTurn } from '@parley/shared/domain/runs/turn-events';
import { faultOfProse } from '@parley/shared/domain/text';
import type { Engine } from '@parley/shared/elicitations/engine';
import { followTurn } from '../follow.ts';
import { type ChatMessage, textOf } from '../messages.ts';
import { conversationOf } from '../principal.ts';
import { type StartedTurn, type StartRequest, startTurn } from '../start.ts';
import type { Turns } from '../turns.ts';
import { type DecidedTogether, settleUnlessEnded } from './continue.ts';
import { readWaitingReply } from './waiting-reply.ts';

export interface ChatStartDeps {
  readonly engine: Pick<Engine, 'approvals' | 'replay' | 'replayItems' | 'watchLive'>;
  readonly turns: Pick<Turns, 'begin' | 'admitToAgent' | 'resumable' | 'isWaiting' | 'attend'>;
}

export interface BesideMessage {
  /** Decisions of the person that came with the message. */
  readonly decisions?: DecidedTogether['decisions'];
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

// A turn ends at once after its calls are denied, unless its pod has died or a call that was approved takes long.
const END_MS = 30_000;
const REASON_CHARACTERS_MAX = 2_000;
// The calls of one step are far fewer.
const APPROVALS_MAX = 100;

/**
 * Begins the turn of a message, as `startTurn`. Where the turn before waits for approvals and nothing else, the message
 * denies their calls, with its text as the reason. That turn ends without another word of its model, and the message is
 * answered next. Decisions that came with the message count first.
 */
export async function startInChat(
  deps: ChatStartDeps,
  request: StartRequest,
  beside: BesideMessage,
): Promise<StartedTurn> {
  try {
    return await startTurn(deps.turns, request);
  } catch (error) {
    if (!isParleyError(error, 'turn_running') || !(await makeWay(deps, request, beside))) throw error;
    return await startTurn(deps.turns, request);
  }
}

/** Ends the turn that waits for approvals. False when the conversation's turn goes on. */
async function makeWay(
  deps: ChatStartDeps,
  { caller, conversationId, messages }: StartRequest,
  { decisions = [], signal }: BesideMessage,
): Promise<boolean> {
  if (caller.kind !== 'user' || conversationId === undefined) return false;
  const conversation = conversationOf(caller, conversationId);
  const stream = await deps.turns.resumable(conversation, undefined);
  if (stream === undefined) return true;
  const approvals = await approvalsOf(deps, stream, conversationId);
  const pending = approvals.filter(({ status }) => !isApprovalEnded(status));
  // A message that is sent again finds what it has denied.
  const isEnding = approvals.some(({ settlement }) => settlement?.surface === BY_MESSAGE);
  const isAll = (await readWaitingReply(deps, stream)) !== undefined;
  const given = new Map(decisions.map(({ id, response }) => [id, response]));
  const denial = denialBy(messages.at(-1));
  const settled = await Promise.all(
    pending.map(async ({ id }) => {
      const response = given.get(id);
      if (response === undefined && !isAll) return false;
      const surface = response === undefined ? BY_MESSAGE : 'chat';
      await settleUnlessEnded(deps.engine, {
        caller,
        id,
        response: response ?? denial,
        surface,
        conversationId,
      });
      return true;
    }),
  );
  const isDecided = isAll && settled.some(Boolean);
  return (isDecided || isEnding) && untilEnded(deps, stream, signal);
}

/** The newest approvals of a turn. */
async function approvalsOf(
  { engine }: ChatStartDeps,
  { tenant, userId, streamRequestId }: StreamRef,
  conversationId: string,
): Promise<ApprovalRow[]> {
  const owner = { tenant, userId };
  const { rows } = await engine.approvals.list({ owner, conversationId, limit: APPROVALS_MAX });
  return rows.filter(({ definition }) => definition.streamRequestId === streamRequestId);
}

function denialBy(message: ChatMessage | undefined): ApprovalInput {
  const text = [...(message === undefined ? '' : textOf(message))].slice(0, REASON_CHARACTERS_MAX).join('');
  const isReason = text !== '' && faultOfProse(text, REASON_CHARACTERS_MAX) === undefined;
  return { decision: 'deny', ...(isReason && { reason: text }) };
}

/** True once the turn has ended; false when that takes too long, or its client has gone. */
async function untilEnded(deps: ChatStartDeps, stream: StreamRef, leaving: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(END_MS)]);
  try {
    for await (const event of await followTurn(deps, stream, { signal }))
      if (event.type === 'turn' && endsTurn(event.event)) return true;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return false;
}
