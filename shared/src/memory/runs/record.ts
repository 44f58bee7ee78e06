import type { RunControl } from '../../domain/runs/commands.ts';
import type { CallRecord, PauseRecord, Run, RunRef, RunStanding } from '../../domain/runs/run.ts';
import type { NewRun, RunNote } from '../../ports/runs/runs.ts';

/** What is kept of a run and decides nothing. */
export type RunRecord = Omit<Run, keyof RunStanding | 'writerSeq'>;

export interface StoredRun {
  control: RunControl;
  record: RunRecord;
}

/** `hasHistory`: Parley knows the conversation, and what the client says of the time before is left out. */
export function newRecord(run: NewRun, hasHistory: boolean, now: number): RunRecord {
  const {
    tenant,
    userId,
    streamRequestId,
    agent,
    delegateRequest,
    support,
    delivery,
    traceparent,
    before = [],
    input,
  } = run;
  return structuredClone({
    tenant,
    userId,
    streamRequestId,
    agent,
    ...(delegateRequest !== undefined && { delegateRequest }),
    support,
    delivery: delivery ?? 'hold',
    ...(traceparent !== undefined && { traceparent }),
    startedAt: now,
    input: hasHistory ? input : [...before, ...input],
    steps: [],
    calls: [],
    pauses: [],
  });
}

export function refOf({ control, record }: StoredRun): RunRef {
  const { tenant, userId, streamRequestId } = record;
  return { tenant, userId, streamRequestId, conversationId: control.conversationId };
}

export function standingOf({ control }: StoredRun): RunStanding {
  const { conversationId, status, owner, term, takeoverCount, parent } = control;
  return {
    conversationId,
    status,
    owner,
    term,
    takeoverCount,
    ...(parent !== undefined && { parent }),
  };
}

export function runOf(stored: StoredRun): Run {
  const { writerSeq } = stored.control;
  return { ...structuredClone(stored.record), ...standingOf(stored), writerSeq };
}

/** The record with one more note; a note of the same name is replaced. */
export function withNote(record: RunRecord, given: RunNote): RunRecord {
  const note = structuredClone(given);
  switch (note.type) {
    case 'step': {
      const steps = [...record.steps];
      steps[note.index] = note.step;
      return { ...record, steps };
    }
    case 'call':
      return { ...record, calls: replace(record.calls, note.call, sameCall) };
    case 'pause':
      return { ...record, pauses: replace(record.pauses, note.pause, samePause) };
  }
}

function sameCall(a: CallRecord, b: CallRecord): boolean {
  return a.toolCallId === b.toolCallId;
}

function samePause(a: PauseRecord, b: PauseRecord): boolean {
  return a.elicitationId === b.elicitationId;
}

function replace<T>(all: readonly T[], one: T, same: (a: T, b: T) => boolean): T[] {
  return all.some((other) => same(other, one))
    ? all.map((other) => (same(other, one) ? one : other))
    : [...all, one];
}
