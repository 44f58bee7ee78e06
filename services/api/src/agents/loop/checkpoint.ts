/**
 * Derives from a run's record the state from which any pod continues it. Pure; reading the record is in `read-checkpoint.ts`.
 */

import type { Message, PauseRecord, Run, StepRecord } from '@parley/shared/domain/runs/run';
import { hasCalls, splitSteps } from '@parley/shared/domain/runs/steps';
import { openPauses } from '@parley/shared/runs/open-questions';
import { APPROVAL_TRIGGER } from '../run/needed-approval.ts';
import type { StepCall } from '../tools/call-tool.ts';

/** The state from which a run continues. */
export interface Checkpoint {
  /** The messages of the completed steps. */
  readonly said: readonly Message[];
  /** Index of the step with which the run continues. */
  readonly step: number;
  /** True after a take-over: the previous owner may have appended events of that step. */
  readonly isRestarted: boolean;
  /** The round of that step, if the model's reply is already recorded. */
  readonly round?: Round;
  /** The final round, which has no tool calls. Only the end of the run remains to be written. */
  readonly last?: StepRecord;
  /** Waits for questions that had not ended when the run was last written. */
  readonly pauses: readonly PauseRecord[];
  /** Ids of all calls so far. */
  readonly callIds: readonly string[];
  readonly used: NonNullable<StepRecord['used']>;
  readonly workedMs: number;
}

/** One reply of a model, with the tool calls in it. */
export interface Round {
  readonly record: StepRecord;
  readonly calls: readonly StepCall[];
}

/** The state of a new run. */
export const BEGINNING: Checkpoint = {
  said: [],
  step: 0,
  isRestarted: false,
  pauses: [],
  callIds: [],
  used: {},
  workedMs: 0,
};

/** What a run keeps of its calls while this pod works on it, as it is at a checkpoint. */
export function callsAt({ callIds, pauses }: Checkpoint) {
  return {
    callIds: new Set(callIds),
    open: new Set<string>(),
    delegated: new Set<string>(),
    rests: new Set<{ readonly until: number }>(),
    inheritedPauses: new Map(pauses.map((pause) => [pause.elicitationId, pause])),
  };
}

/** The checkpoint in a run's record. */
export function checkpointOf(run: Run): Checkpoint {
  const { steps, calls, pauses } = run;
  const newest = steps.at(-1);
  const { whole, unfinished } = splitSteps(run);
  const isOver = newest !== undefined && !hasCalls(calls, steps.length - 1);
  const step = whole.length;
  return {
    said: whole.flatMap(({ messages }) => messages),
    step,
    isRestarted: true,
    ...(unfinished !== undefined && {
      round: { record: unfinished, calls: callsOf(unfinished, run, step) },
    }),
    ...(isOver && { last: newest }),
    pauses: openPauses(pauses),
    callIds: calls.map(({ toolCallId }) => toolCallId),
    used: newest?.used ?? {},
    workedMs: newest?.workedMs ?? 0,
  };
}

function callsOf(
  record: StepRecord,
  { calls, pauses }: Pick<Run, 'calls' | 'pauses'>,
  step: number,
): StepCall[] {
  const inputs = inputsOf(record);
  // This includes waits that have ended: a denied call may have no outcome in its record yet.
  const approvalIds = new Map(
    pauses
      .filter(({ trigger }) => trigger === APPROVAL_TRIGGER)
      .map(({ toolCallId, elicitationId }) => [toolCallId, elicitationId]),
  );
  return calls
    .filter((call) => call.step === step)
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .map((before, at) => ({
      toolCallId: before.toolCallId,
      modelCallId: before.modelCallId ?? before.toolCallId,
      toolName: before.toolName,
      input: inputs[before.at ?? at],
      at: before.at ?? at,
      ...(before.fault !== undefined && { fault: before.fault }),
      before,
      approvalId: approvalIds.get(before.toolCallId),
    }));
}

/** The arguments of a model's tool calls, in order. */
function inputsOf({ messages }: StepRecord): unknown[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? content
          .filter((part: { type?: unknown }) => part.type === 'tool-call')
          .map((part: { input?: unknown }) => part.input)
      : [],
  );
}
