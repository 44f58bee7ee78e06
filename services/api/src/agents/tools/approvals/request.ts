/** Requests a person's approval of a call, and waits for the decision. Which calls need one is decided in `policy.ts`. */

import type { Arguments } from '@parley/core/domain/approvals/approval';
import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { isApprovalEnded, isGranted } from '@parley/core/domain/approvals/status';
import { isParleyError } from '@parley/core/domain/errors';
import { isRecord } from '@parley/core/domain/plain-record';
import { whenAborted } from '@parley/shared/async/release-on-abort';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { isCheckable } from '@parley/shared/domain/approvals/check-arguments';
import { type MaskedArguments, maskArguments, unmaskArguments } from '@parley/shared/domain/approvals/mask';
import {
  BY_MESSAGE,
  refusalTextOf,
  UNATTENDED_REFUSAL,
  unshownTextOf,
} from '@parley/shared/domain/approvals/outcome';
import type { ApprovalRow, ApprovalTypes } from '@parley/shared/domain/approvals/types';
import type { CallApproval } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import type { SeenRecord } from '@parley/shared/records/read';
import type { IdlePart } from '../../run/idle.ts';
import { APPROVAL_TRIGGER, type ApprovalOutcome, type NeededApproval } from '../../run/needed-approval.ts';
import { takeBack } from '../../run/question.ts';
import type { RunContext } from '../../run/run-context.ts';

// With a larger schema, there would be no room for the arguments that a person must read. The arguments then cannot be edited;
// the call can be approved or denied.
const SCHEMA_BYTES_MAX = 32 * 1024;

/** The place of a call in its run, and its record. The same place always leads to the same approval. */
export interface ApprovalPlace {
  readonly toolCallId: string;
  /** The id of the call on the turn's stream. */
  readonly shownCallId: string;
  readonly step: number;
  /** The approval that the call's record already contains, from this pod or a previous owner of the run. */
  readonly recorded: CallApproval | undefined;
  /** Id of the approval that a previous owner of the run requested for the call, if the run's record names it. */
  readonly requested: string | undefined;
  /** True if a previous owner of the run began the call. */
  readonly isInherited: boolean;
  /** Stores the approval in the call's record. */
  save(approval: CallApproval): Promise<void>;
  readonly waiting: IdlePart['waiting'];
  /** When aborted, the approval is withdrawn, because the call is no longer needed. */
  readonly withdrawn?: AbortSignal;
}

/**
 * Asks the run's person to approve a call, unless they have allowed such calls before. Retries while Redis is unavailable.
 * Throws the signal's reason when aborted.
 */
export async function approveCall(
  context: RunContext,
  place: ApprovalPlace,
  needed: NeededApproval,
): Promise<ApprovalOutcome> {
  const { engine, turn, run, signal } = context;
  if (turn.support.unattended === true) return { type: 'refused', message: UNATTENDED_REFUSAL };
  const { fault, ...definition } = definitionOf(context, place, needed);
  if (fault !== undefined) return { type: 'refused', message: unshownTextOf(fault) };
  const grant = await retryWhileUnavailable(() => engine.approvals.grants.find(definition), signal);
  if (grant !== undefined) {
    await place.save({ id: grant.approvalId, outcome: 'remembered' });
    return { type: 'granted', input: needed.args, isEdited: false };
  }
  const idempotencyKey = keyOf(run.streamRequestId, place.toolCallId);
  const request = () => engine.approvals.request({ definition, idempotencyKey });
  return decided(context, place, request, needed.args);
}

/**
 * The decision on a call that was already put to its person, whatever the configuration demands now. Undefined for other calls.
 * Waits while the decision is pending. Throws the signal's reason when aborted.
 */
export async function decisionBefore(
  context: RunContext,
  place: ApprovalPlace,
  input: unknown,
): Promise<ApprovalOutcome | undefined> {
  const { engine, run, signal } = context;
  const { recorded, requested: id, isInherited } = place;
  if (recorded !== undefined) {
    const isEdited = recorded.outcome === 'edited';
    return { type: 'granted', input: isEdited ? recorded.input : input, isEdited };
  }
  const args = isRecord(input) ? input : {};
  const { tenant } = run;
  if (id !== undefined)
    return decided(context, place, () => engine.approvals.read({ kind: 'service', tenant }, id), args);
  if (!isInherited) return undefined;
  // The pod may have died after the request and before the run's record named the approval.
  const idempotencyKey = keyOf(run.streamRequestId, place.toolCallId);
  const found = await retryWhileUnavailable(() => engine.approvals.find({ tenant, idempotencyKey }), signal);
  return found && decided(context, place, async () => found, args);
}

/** Opens or finds an approval, and waits for its end. */
async function decided(
  context: RunContext,
  place: ApprovalPlace,
  open: () => Promise<SeenRecord<ApprovalTypes>>,
  args: Arguments,
): Promise<ApprovalOutcome> {
  const { turn, signal } = context;
  // Readers must see the call before its approval. A call of a deleted conversation must not ask any more, so this rejects.
  await turn.poll();
  turn.openQuestions += 1;
  try {
    const opened = await retryWhileUnavailable(open, signal).catch((error: unknown) => {
      // A refused approval is not open. After an abort it may be: its reply may have been lost.
      if (isParleyError(error)) turn.openQuestions -= 1;
      throw error;
    });
    return await decisionOn(context, place, opened, args);
  } catch (error) {
    if (!isParleyError(error)) throw error;
    return {
      type: 'refused',
      message: `This call needs an approval that cannot be asked for. ${error.message}`,
    };
  }
}

async function decisionOn(
  { engine, turn, run, writer, open, inheritedPauses, signal }: RunContext,
  place: ApprovalPlace,
  { row, now }: SeenRecord<ApprovalTypes>,
  args: Arguments,
): Promise<ApprovalOutcome> {
  open.add(row.id);
  inheritedPauses.delete(row.id);
  const pause = {
    elicitationId: row.id,
    toolCallId: place.toolCallId,
    trigger: APPROVAL_TRIGGER,
    pausedAt: row.createdAt,
  };
  await writer.save([{ type: 'pause', pause }]);
  const caller = { kind: 'service', tenant: run.tenant } as const;
  const wait = () =>
    retryWhileUnavailable(() => engine.approvals.wait({ caller, id: row.id, signal }), signal);
  const forget = whenAborted(place.withdrawn, () => void takeBack(engine, caller, row.id, signal));
  const untilEnded = async () => (isApprovalEnded(row.status) ? { row, now } : place.waiting(wait));
  const ended = await untilEnded().finally(forget);
  // A run that was released during the wait must stay as it was for its next owner.
  signal.throwIfAborted();
  turn.openQuestions -= 1;
  open.delete(row.id);
  await writer.saveSoon([
    { type: 'pause', pause: { ...pause, resumedAt: ended.now, outcome: ended.row.status } },
  ]);
  // Usually the turn was stopped. Polling now makes sure that the run does not continue.
  if (ended.row.status === 'withdrawn') await turn.poll();
  signal.throwIfAborted();
  return outcomeOfRow(ended.row, place, args);
}

async function outcomeOfRow(
  { id, status, settlement, definition }: ApprovalRow,
  place: ApprovalPlace,
  args: Arguments,
): Promise<ApprovalOutcome> {
  if (!isGranted(status)) {
    const message = refusalTextOf(status, settlement?.reason);
    return { type: 'refused', message, ...(settlement?.surface === BY_MESSAGE && { endsTurn: true }) };
  }
  const input =
    status === 'edited' ? unmaskArguments(settlement?.arguments ?? {}, args, definition.masked) : args;
  // The definition comes from the run's first owner, so its masks fit the arguments in the checkpoint.
  if (input === undefined) throw new Error(`The edit of the approval ${id} does not fit its call.`);
  const isEdited = status === 'edited';
  // The decision is stored before anything is sent, so that the run's next owner sends the same.
  await place.save({ id, outcome: status, ...(isEdited && { input }) });
  return { type: 'granted', input, isEdited };
}

function definitionOf(
  { turn, run, id, title }: RunContext,
  { shownCallId, step }: ApprovalPlace,
  { args, tool, inputSchema, rule, remember, risk, tags, timeoutSeconds }: NeededApproval,
): Omit<ApprovalDefinition, 'traceparent'> & Pick<MaskedArguments, 'fault'> {
  const { tenant, userId, streamRequestId, conversationId } = turn.run;
  const isEditable =
    inputSchema !== undefined &&
    Buffer.byteLength(JSON.stringify(inputSchema)) <= SCHEMA_BYTES_MAX &&
    isCheckable(inputSchema);
  return {
    tenant,
    userId,
    streamRequestId,
    conversationId,
    toolCallId: shownCallId,
    step: `${run.streamRequestId} ${step}`,
    agent: title,
    agentId: id,
    tool,
    ...maskArguments(args, inputSchema ?? {}),
    ...(isEditable && { inputSchema }),
    ...(remember !== undefined && { remember }),
    ...(risk !== undefined && { risk }),
    ...(tags !== undefined && { tags }),
    rule,
    ...(turn.notify !== undefined && { notify: turn.notify }),
    timeoutSeconds,
  };
}

/** The idempotency key of an approval. Keys of callers cannot contain a space, so they never collide with it. */
function keyOf(streamRequestId: string, toolCallId: string): string {
  const place = sha256(JSON.stringify(['approval', toolCallId]));
  return `run ${streamRequestId} ${place} approval`;
}
