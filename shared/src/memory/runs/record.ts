/**
 * Builds the stored record of a run from its notes, in pure functions. No decision depends on a record; decisions use
 * `RunControl` and `domain/runs/transition.ts`.
 */

import type { RunControl } from '../../domain/runs/commands.ts';
import type {
  CallRecord,
  EntryStamp,
  PauseRecord,
  Run,
  RunHead,
  RunRef,
  RunStanding,
} from '../../domain/runs/run.ts';
import type { NewRun, RunNote } from '../../ports/runs/runs.ts';

/** The part of a run on which no decision depends. */
type RunRecord = Omit<Run, keyof RunStanding | 'writerSeq'>;

export interface StoredRun {
  control: RunControl;
  record: RunRecord;
  /** The position of the last event that the run appended. */
  position: string;
  /** The run's size in bytes when it began, was last detached, or ended. */
  storedBytes: number;
}

/** With `hasHistory`, Parley knows the conversation, so the client's copy of earlier messages is left out. */
export function newRecord(run: NewRun, hasHistory: boolean, now: number): RunRecord {
  const {
    tenant,
    userId,
    streamRequestId,
    agent,
    owner,
    delegateRequest,
    support,
    delivery,
    unlisted,
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
    ...(unlisted !== undefined && { unlisted }),
    ...(traceparent !== undefined && { traceparent }),
    startedAt: now,
    input: hasHistory ? input : [...before, ...input],
    steps: [],
    calls: [],
    pauses: [],
    times: { owners: [{ term: 1, owner, since: now }], steps: new Map(), calls: new Map() },
  });
}

export function refOf({ control, record }: Pick<StoredRun, 'control' | 'record'>): RunRef {
  const { tenant, userId, streamRequestId } = record;
  return { tenant, userId, streamRequestId, conversationId: control.conversationId };
}

export function standingOf({ control }: StoredRun): RunStanding {
  const { conversationId, status, owner, term, deaths, takeOvers, parent } = control;
  return {
    conversationId,
    status,
    owner,
    term,
    deaths,
    takeOvers,
    ...(parent !== undefined && { parent }),
  };
}

export function headOf(stored: StoredRun): RunHead {
  const { agent, startedAt, endedAt, restsUntil } = stored.record;
  return {
    ...refOf(stored),
    ...standingOf(stored),
    agent,
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    ...(restsUntil !== undefined && { restsUntil }),
    ...(stored.control.stopRequested && { isStopping: true as const }),
  };
}

export function runOf(stored: StoredRun): Run {
  const { writerSeq } = stored.control;
  return { ...structuredClone(stored.record), ...standingOf(stored), writerSeq };
}

/** The record after a change of owner. */
export function withOwner(record: RunRecord, { term, owner }: RunControl, now: number): RunRecord {
  const { times } = record;
  return { ...record, times: { ...times, owners: [...times.owners, { term, owner, since: now }] } };
}

/** The record with one more note, which replaces a note of the same name. */
export function withNote(record: RunRecord, given: RunNote, stamp: EntryStamp): RunRecord {
  const note = structuredClone(given);
  const { times } = record;
  switch (note.type) {
    case 'step': {
      const steps = [...record.steps];
      steps[note.index] = note.step;
      return { ...record, steps, times: { ...times, steps: stamped(times.steps, note.index, stamp) } };
    }
    case 'call':
      return {
        ...record,
        calls: replace(record.calls, note.call, sameCall),
        times: { ...times, calls: stamped(times.calls, note.call.toolCallId, stamp) },
      };
    case 'pause':
      return { ...record, pauses: replace(record.pauses, note.pause, samePause) };
  }
}

function stamped<Key>(
  times: ReadonlyMap<Key, readonly [EntryStamp, EntryStamp]>,
  key: Key,
  stamp: EntryStamp,
): ReadonlyMap<Key, readonly [EntryStamp, EntryStamp]> {
  return new Map(times).set(key, [times.get(key)?.[0] ?? stamp, stamp]);
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
