import type { CallRecord } from '@parley/shared/domain/runs/run';
import { shownCallId } from '../../run/call-names.ts';
import type { IdlePart } from '../../run/idle.ts';
import type { RunContext } from '../../run/run-context.ts';
import type { InnerApproval } from '../../run/tool.ts';
import type { ApprovalPlace } from './request.ts';

/** The parts of a step's call that its approval needs. */
interface PlacedCall {
  readonly toolCallId: string;
  readonly before?: CallRecord;
  readonly approvalId?: string | undefined;
}

/** The record of a call, which changes while the call is made. */
export interface CallRecording {
  readonly record: () => CallRecord;
  /** Writes the changes of the call's record. */
  readonly save: (more: Partial<CallRecord>) => Promise<void>;
  /** Tells the run whether the call only waits. */
  readonly part: IdlePart;
}

/** The place of a call's approval. */
export function approvalPlaceOf(
  runContext: RunContext,
  { toolCallId, approvalId, before }: PlacedCall,
  { save, record, part }: CallRecording,
): ApprovalPlace {
  const { step, approval } = record();
  return {
    toolCallId,
    shownCallId: shownCallId(runContext, toolCallId),
    step,
    recorded: approval,
    requested: approvalId,
    isInherited: before !== undefined,
    save: (settled) => save({ approval: settled }),
    waiting: (wait) => runContext.clock.waiting(() => part.waiting(wait)),
  };
}

/** True for the id of a wait for an approval that a remote agent needs within the call. */
export function isWithinCall(toolCallId: string, id: string | undefined): boolean {
  return id?.startsWith(`${toolCallId}.`) === true && id.includes(' ');
}

/** The place of an approval that a remote agent needs within a call. Only the approval's own row contains the decision. */
export function innerPlace(
  runContext: RunContext,
  place: ApprovalPlace,
  { callName, key }: InnerApproval,
): ApprovalPlace {
  return {
    ...place,
    toolCallId: `${place.toolCallId}.${callName} ${key}`,
    shownCallId: shownCallId(runContext, `${place.toolCallId}.${callName}`),
    recorded: undefined,
    requested: undefined,
    save: async () => undefined,
  };
}
