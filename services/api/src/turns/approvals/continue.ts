/**
 * Records decisions that a client sends together, and finds the turn that continues. Reading them from a request is in the
 * surfaces.
 */

import { readApprovalEvent } from '@parley/core/domain/approvals/events';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import type { FeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import { type Caller, notFound, unlessMissing } from '@parley/shared/domain/caller';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createApprovalWait } from './wait.ts';

type User = Caller & { readonly kind: 'user' };

// The maximum number of decisions in a request; a step has far fewer calls.
const DECISIONS_MAX = 100;

/** Decisions that a client sends together, to continue a turn whose stream ended while it waited for them. */
export interface DecidedTogether {
  readonly caller: User;
  readonly conversationId: string;
  readonly decisions: readonly { readonly id: string; readonly response: ApprovalInput }[];
  readonly surface: string;
  /** Admits the request and one decision on the approval. Throws `rate_limited`. */
  readonly admit: (approvalId: string) => Promise<void>;
}

/**
 * Records decisions, and returns the turn that continues. A decision that comes too late or after another one changes nothing;
 * the turn's stream then tells how the approval ended. The same holds for an approval that is no longer stored, if others are.
 * Of several decisions on one approval, the last one counts.
 *
 * Throws `not_found` if none of the approvals is stored or if they belong to several turns, `invalid_request` for too many
 * decisions, and `rate_limited`. If one decision does not fit its approval, none is recorded.
 */
export async function decideTogether(
  engine: Pick<Engine, 'approvals'>,
  { caller, conversationId, decisions: given, surface, admit }: DecidedTogether,
): Promise<StreamRef> {
  if (given.length > DECISIONS_MAX)
    throw new ParleyError('invalid_request', `A request can decide on ${DECISIONS_MAX} calls at most.`);
  const decisions = [...new Map(given.map((decision) => [decision.id, decision])).values()];
  await Promise.all(decisions.map(({ id }) => admit(id)));
  const stored = await Promise.all(
    decisions.map(async ({ id, response }) => ({ id, response, row: await storedRow(engine, caller, id) })),
  );
  const [first, ...others] = stored.flatMap(({ row }) => row?.definition ?? []);
  if (first === undefined || others.some((each) => each.streamRequestId !== first.streamRequestId))
    throw notFound();
  const known = stored.filter(({ row }) => row !== undefined);
  const record = ({ id, response }: (typeof known)[number], isTrial: boolean) =>
    settleUnlessEnded(engine, { caller, id, response, surface, conversationId, isTrial });
  // All are checked before the first is recorded, because a person who corrects one may also change the others.
  if (known.length > 1) await Promise.all(known.map((decision) => record(decision, true)));
  await Promise.all(known.map((decision) => record(decision, false)));
  const { tenant, userId, streamRequestId } = first;
  return { tenant, userId, streamRequestId };
}

/** Records a decision. If it comes too late or after another one, it changes nothing. */
export async function settleUnlessEnded(
  { approvals }: Pick<Engine, 'approvals'>,
  decision: Parameters<Engine['approvals']['decide']>[0],
): Promise<void> {
  try {
    await approvals.decide(decision);
  } catch (error) {
    if (!isParleyError(error, 'already_settled') && !isParleyError(error, 'expired')) throw error;
  }
}

/** The approval. Undefined if it is unknown, or if its retention has ended: a turn may last longer. */
async function storedRow({ approvals }: Pick<Engine, 'approvals'>, caller: User, id: string) {
  return (await unlessMissing(approvals.read(caller, id)))?.row;
}

/**
 * Finds where the stream of a turn ended to wait for the first of these approvals: the last event after which only approvals
 * were outstanding, before one of these ended. Undefined if there is no such event.
 */
export async function endBefore(
  engine: Pick<Engine, 'replay' | 'approvals'>,
  caller: User,
  stream: StreamRef,
  approvalIds: readonly string[],
): Promise<FeedPosition | undefined> {
  const wait = createApprovalWait();
  let end: FeedPosition | undefined;
  for await (const { position, event } of engine.replay(stream)) {
    const approval = readApprovalEvent(event);
    const turn = approval === undefined ? turnEventOf(event) : undefined;
    if (turn !== undefined) wait.turn(turn);
    if (approval !== undefined) {
      const isOpen = approval.type !== 'approval-resolved';
      const row = await storedRow(engine, caller, approval.approvalId);
      // The stream continued after an approval that is no longer stored, so its client knows a later approval.
      if (row === undefined) continue;
      if (!isOpen && approvalIds.includes(approval.approvalId)) break;
      wait.approval(approval.approvalId, row.definition.toolCallId, isOpen);
    }
    if (wait.isAll()) end = position;
  }
  return end;
}
