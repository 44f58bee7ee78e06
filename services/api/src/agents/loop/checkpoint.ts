import type { CallRecord, Message, PauseRecord, Run, StepRecord } from '@parley/shared/domain/runs/run';
import type { Call } from '../tools/call-tool.ts';

/** Where a run stands: what it goes on from. */
export interface Checkpoint {
  /** What was said in its whole steps. */
  readonly said: readonly Message[];
  /** The step to go on with. */
  readonly step: number;
  /** True when another pod may have told something of that step. */
  readonly isRestarted: boolean;
  /** That step's round, where the model has had its say already. */
  readonly round?: Round;
  /** The last round, where the model had nothing more to call: only the end is left to write. */
  readonly last?: StepRecord;
  /** Waits for questions that had not come to an end, as the run knew. */
  readonly pauses: readonly PauseRecord[];
  /** Ids of all calls so far. */
  readonly callIds: readonly string[];
  readonly used: NonNullable<StepRecord['used']>;
  readonly workedMs: number;
}

/** What a model said, with the calls that it asked for. */
export interface Round {
  readonly record: StepRecord;
  readonly calls: readonly Call[];
}

/** Where a run begins. */
export const BEGINNING: Checkpoint = {
  said: [],
  step: 0,
  isRestarted: false,
  pauses: [],
  callIds: [],
  used: {},
  workedMs: 0,
};

/** The waits that whoever goes on may take up, by their question. */
export function inheritedPausesOf({ pauses }: Checkpoint): Map<string, PauseRecord> {
  return new Map(pauses.map((pause) => [pause.elicitationId, pause]));
}

/** Where a run stands, as its record has it. */
export function checkpointOf({ steps, calls, pauses }: Run): Checkpoint {
  const newest = steps.at(-1);
  const hasCalls = calls.some(({ step }) => step === steps.length - 1);
  const open = hasCalls && newest?.messages.at(-1)?.role !== 'tool' ? newest : undefined;
  const isOver = newest !== undefined && !hasCalls;
  const whole = open === undefined ? steps : steps.slice(0, -1);
  const step = whole.length;
  return {
    said: whole.flatMap(({ messages }) => messages),
    step,
    isRestarted: true,
    ...(open !== undefined && { round: { record: open, calls: callsOf(open, calls, step) } }),
    ...(isOver && { last: newest }),
    pauses: pauses.filter(({ resumedAt }) => resumedAt === undefined),
    callIds: calls.map(({ toolCallId }) => toolCallId),
    used: newest?.used ?? {},
    workedMs: newest?.workedMs ?? 0,
  };
}

function callsOf(record: StepRecord, calls: readonly CallRecord[], step: number): Call[] {
  const inputs = inputsOf(record);
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
    }));
}

/** What a model gave to its calls, in order. */
function inputsOf({ messages }: StepRecord): unknown[] {
  return messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? content
          .filter((part: { type?: unknown }) => part.type === 'tool-call')
          .map((part: { input?: unknown }) => part.input)
      : [],
  );
}
