/**
 * Begins a turn for a message even if the earlier turn waits for approvals, which the message denies. Ordinary turns are begun
 * in `turns/start.ts`.
 */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { faultOfProse } from '@parley/core/domain/text';
import { withTimeLimit } from '@parley/shared/async/time-limit';
import { BY_MESSAGE } from '@parley/shared/domain/approvals/outcome';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { endsTurn } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import { followTurn } from '../follow.ts';
import { type ChatMessage, textOf } from '../messages.ts';
import { conversationOf } from '../principal.ts';
import { readReplayFacts } from '../replay.ts';
import { type StartedTurn, type StartRequest, startTurn } from '../start.ts';
import type { Turns } from '../turns.ts';
import { type DecidedTogether, settleUnlessEnded } from './continue.ts';
import { createApprovalWait } from './wait.ts';
import { readWaitingReply } from './waiting-reply.ts';

interface ChatStartDeps {
  readonly engine: Pick<Engine, 'approvals' | 'replay' | 'replayItems' | 'watchLive'>;
  readonly turns: Pick<Turns, 'begin' | 'admitToAgent' | 'resumable' | 'isWaiting' | 'attend'>;
}

interface BesideMessage {
  /** The person's decisions that came with the message. */
  readonly decided?: Pick<DecidedTogether, 'decisions' | 'admit'>;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

// How long to wait for the earlier turn to end. It ends at once after its calls are denied, unless its pod died or an approved
// call takes long.
const END_MS = 30_000;
const REASON_CHARACTERS_MAX = 2_000;
// The maximum number of approvals that are read; a step has far fewer calls.
const APPROVALS_MAX = 100;

/**
 * Begins the turn of a message, as `startTurn` does. If the conversation's running turn waits only for approvals, the message
 * denies these calls, with its text as the reason. That turn then ends without another reply of its model, and the message is
 * answered. Decisions that came with the message are recorded first. Approvals for calls that follow from them are denied too.
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

/** Ends the turn that waits for approvals. Returns false if the conversation's turn continues. */
async function makeWay(deps: ChatStartDeps, request: StartRequest, beside: BesideMessage): Promise<boolean> {
  const { caller, conversationId } = request;
  if (caller.kind !== 'user' || conversationId === undefined) return false;
  const conversation = conversationOf(caller, conversationId);
  const stream = await deps.turns.resumable(conversation, undefined);
  if (stream === undefined) return true;
  const waiting = { caller, conversationId, stream, denial: denialBy(request.messages.at(-1)) };
  if (!(await settleWaiting(deps, waiting, beside))) return false;
  return withTimeLimit(END_MS, beside.signal, async (signal) => {
    for (;;) {
      const next = await untilEndedOrWaiting(deps, stream, signal);
      if (next !== 'waits') return next === 'ended';
      // A call that was approved here or elsewhere has led to another approval.
      await settleWaiting(deps, waiting, beside);
    }
  });
}

interface WaitingTurn {
  readonly caller: DecidedTogether['caller'];
  readonly conversationId: string;
  readonly stream: StreamRef;
  readonly denial: ApprovalInput;
}

/**
 * Settles the approvals for which a turn waits. Returns true if it waited for nothing else, or if a message is already ending
 * it.
 */
async function settleWaiting(
  deps: ChatStartDeps,
  { caller, conversationId, stream, denial }: WaitingTurn,
  { decided }: BesideMessage,
): Promise<boolean> {
  const approvals = await approvalsOf(deps, stream, conversationId);
  // A repeated message finds the approvals that it has already denied.
  const isEnding = approvals.some(({ settlement }) => settlement?.surface === BY_MESSAGE);
  const isAll = (await readWaitingReply(deps, stream)) !== undefined;
  const given = new Map(decided?.decisions.map(({ id, response }) => [id, response]));
  const settling = approvals
    .filter(({ id, status }) => !isApprovalEnded(status) && (isAll || given.has(id)))
    .map(({ id }) => ({ id, response: given.get(id) }));
  await Promise.all(settling.map(({ id, response }) => response && decided?.admit(id)));
  await Promise.all(
    settling.map(({ id, response }) => {
      const surface = response === undefined ? BY_MESSAGE : 'chat';
      return settleUnlessEnded(deps.engine, {
        caller,
        id,
        response: response ?? denial,
        surface,
        conversationId,
      });
    }),
  );
  return isEnding || (isAll && settling.length > 0);
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

/**
 * Follows a turn until it ends or waits only for approvals. Returns `late` if that takes too long or the client has
 * disconnected.
 */
async function untilEndedOrWaiting(
  deps: ChatStartDeps,
  stream: StreamRef,
  signal: AbortSignal,
): Promise<'ended' | 'waits' | 'late'> {
  const wait = createApprovalWait();
  try {
    const facts = await readReplayFacts(deps, stream);
    for await (const event of await followTurn(deps, stream, { signal, facts })) {
      if (event.type === 'turn' && endsTurn(event.event)) return 'ended';
      wait.followed(event);
      // Events that follow in the replay may end the wait, so the whole feed is read.
      if (wait.isAll() && (await readWaitingReply(deps, stream)) !== undefined) return 'waits';
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return 'late';
}
