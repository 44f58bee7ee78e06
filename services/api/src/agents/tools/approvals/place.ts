import type { CallRecord } from '@parley/shared/domain/runs/run';
import { shownCallId } from '../../run/call-names.ts';
import type { IdlePart } from '../../run/idle.ts';
import type { RunContext } from '../../run/run-context.ts';
import type { InnerApproval } from '../../run/tool.ts';
import type { ApprovalPlace } from './request.ts';

/** A call of a step, as far as its approval needs it. */
interface PlacedCall {
  readonly toolCallId: string;
  readonly before?: CallRecord;
  readonly approvalId?: string | undefined;
}

/** The record of a call, which changes while the call is made. */
export interface CallRecording {
  readonly record: () => CallRecord;
  /** Writes what is new in the call's record. */
  readonly save: (more: Partial<CallRecord>) => Promise<void>;
  /** By which the call tells its run when it only waits. */
  readonly part: IdlePart;
}

/** Where the approval of a call belongs. */
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

/** True for the id under which a call waits for an approval that a remote agent needs within it. */
export function isWithinCall(toolCallId: string, id: string | undefined): boolean {
  return id?.startsWith(`${toolCallId}.`) === true && id.includes(' ');
}

/** The place of an approval that a remote agent needs within a call. Its row alone has the decision. */
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
