import type { RunRef } from '../domain/runs/run.ts';
import type { TurnEvent } from '../domain/runs/turn-events.ts';
import { retryWhileUnavailable } from '../elicitations/retry-while-unavailable.ts';
import type { RunNote, Runs, RunWrite, WriteResult } from '../ports/runs/runs.ts';
import { createRecentWrites } from './recent-writes.ts';

// Models stream a few characters at a time. One write for each would cost more than the model call.
/** How long text waits for more text before it is written, in ms. */
export const COALESCE_MS = 25;
const COALESCE_CHARACTERS = 256;
const QUEUE_MAX = 500;

/** Another pod owns the run, or the run has ended. Work on it must stop and write nothing more. */
export class RunFencedError extends Error {
  constructor() {
    super('Another pod owns the run, or the run has ended.');
    this.name = 'RunFencedError';
  }
}

/** A wait that the run was detaching for has already ended. */
class WaitEndedError extends Error {}

/** The turn's feed has reached its size limit (`PARLEY_LIMIT_TURN_BYTES`). */
export class TurnTooLargeError extends Error {
  constructor() {
    super('The feed of the turn has reached its size limit.');
    this.name = 'TurnTooLargeError';
  }
}

/** Redis has lost more of the run than its writer remembers. The run can only be ended. */
export class RunLostError extends Error {
  constructor() {
    super('Redis has lost more of the run than its pod can write again.');
    this.name = 'RunLostError';
  }
}

export interface RunWriterOptions {
  readonly runs: Pick<Runs, 'read' | 'write'>;
  readonly run: RunRef;
  readonly term: number;
  /** Sequence number of the last event in the run. */
  readonly writerSeq: number;
}

export type RunEnd = NonNullable<RunWrite['end']>;

/** What the last write of a run does besides appending events and saving notes. */
type FinalWrite = Pick<RunWrite, 'end' | 'detach'> & { readonly event?: TurnEvent };

/**
 * Writes a run's events and notes in order and in batches. Retries while Redis is unavailable, and writes again what
 * Redis has lost of the last seconds. Every method rejects with RunFencedError once another pod owns the run, with
 * TurnTooLargeError once the feed is full, and with RunLostError once more was lost; after these two, `end` still works.
 */
export interface RunWriter {
  /** Queues an event. Text of one block is coalesced. Waits for a write only when the queue is full. */
  append(event: TurnEvent): Promise<void>;
  /** Saves notes after all queued events. Resolves once both are written. */
  save(notes: readonly RunNote[]): Promise<void>;
  /** Saves notes with the next write. For notes that a pod could reconstruct after a take-over. */
  saveSoon(notes: readonly RunNote[]): Promise<void>;
  /**
   * Writes the queue, even when it is empty, to learn whether the run was stopped or taken over. Does nothing when the
   * last write was less than `ageMs` ago.
   */
  poll(ageMs?: number): Promise<void>;
  /** Detaches the run until one of these waits ends, and appends `turn-detached`. False when one has already ended. */
  detach(waits: NonNullable<RunWrite['detach']>): Promise<boolean>;
  /** Ends the run with its last event. Rejects like the other methods, but not on a full feed. */
  end(event: TurnEvent, end: RunEnd): Promise<void>;
  /** The fencing token of this writer. */
  readonly term: number;
  /** The final status, once it is written. */
  readonly outcome: RunEnd['status'] | undefined;
  /** Aborted when another pod owns the run, or the run has ended. */
  readonly fenced: AbortSignal;
  /** Aborted when a write learns that a stop was requested. */
  readonly stopped: AbortSignal;
}

/** Creates the only writer of a run on this pod. */
export function createRunWriter({ runs, run, term, writerSeq }: RunWriterOptions): RunWriter {
  const fenced = new AbortController();
  const stopped = new AbortController();
  const recent = createRecentWrites();
  let queue: TurnEvent[] = [];
  let notes: RunNote[] = [];
  let nextSeq = writerSeq + 1;
  /** May skip numbers, but never repeats one. */
  let writes = 0;
  /** Why no further event can be written. */
  let fault: unknown;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let wroteAt = 0;
  let outcome: RunEnd['status'] | undefined;

  /** Runs one write after the other. Each takes the whole queue when it starts. */
  function flush(final: FinalWrite = {}, evenIfEmpty = final.end !== undefined): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const done = writing.then(() => writeQueued(final, evenIfEmpty));
    // The next write runs regardless; the caller of this one gets its error.
    writing = done.catch(() => undefined);
    return done;
  }

  async function writeQueued(final: FinalWrite, evenIfEmpty: boolean): Promise<void> {
    const isFinal = final.end !== undefined || final.detach !== undefined;
    if (fault !== undefined && (!isFinal || fault instanceof RunFencedError)) throw fault;
    const write = buildWrite(final);
    if (write.events.length === 0 && notes.length === 0 && !evenIfEmpty) return;
    const batch = { queue, notes };
    writes += 1;
    queue = [];
    notes = [];
    // Also while it is under way: a second poll must not queue behind one that an outage delays.
    wroteAt = Number.POSITIVE_INFINITY;
    try {
      const result = await retryWhileUnavailable(() => send(write));
      if (result === 'behind') await giveUpLost();
      refuseUnlessWritten(result);
      recent.add(write);
      nextSeq += write.events.length;
      outcome ??= final.end?.status;
    } catch (error) {
      if (error instanceof WaitEndedError) {
        queue = [...batch.queue, ...queue];
        notes = [...batch.notes, ...notes];
      } else fault = error;
      if (error instanceof RunFencedError) fenced.abort(error);
      throw error;
    } finally {
      wroteAt = performance.now();
    }
  }

  async function send(write: RunWrite): Promise<WriteResult> {
    const result = await runs.write(run, write);
    return result === 'behind' ? runs.write(run, recent.withEarlier(write)) : result;
  }

  /** Lets the end follow the events that the run still has. */
  async function giveUpLost(): Promise<never> {
    const { run: record } = await retryWhileUnavailable(() => runs.read(run));
    if (record === undefined) throw new RunFencedError();
    nextSeq = record.writerSeq + 1;
    throw new RunLostError();
  }

  function buildWrite({ event, ...final }: FinalWrite): RunWrite {
    // Events after a failed write would leave a gap.
    const events = fault === undefined ? queue : [];
    return {
      term,
      number: writes + 1,
      firstSeq: nextSeq,
      events: event === undefined ? events : [...events, event],
      notes,
      ...final,
    };
  }

  function refuseUnlessWritten(result: WriteResult): void {
    if (result === 'full') throw new TurnTooLargeError();
    if (result === 'fenced' || result === 'gone') throw new RunFencedError();
    if (result === 'wait-ended') throw new WaitEndedError();
    if (result === 'stopping') stopped.abort();
  }

  function soon(): void {
    timer ??= setTimeout(() => void flush().catch(() => undefined), COALESCE_MS);
  }

  return {
    term,
    fenced: fenced.signal,
    stopped: stopped.signal,
    async append(event) {
      if (fault !== undefined) throw fault;
      const size = coalesce(queue, event);
      if (queue.length > QUEUE_MAX) return flush();
      if (size >= COALESCE_CHARACTERS) void flush().catch(() => undefined);
      else soon();
    },
    save(added) {
      notes.push(...added);
      return flush();
    },
    async saveSoon(added) {
      if (fault !== undefined) throw fault;
      notes.push(...added);
      soon();
    },
    async poll(ageMs = 0) {
      if (ageMs > 0 && performance.now() - wroteAt < ageMs) return;
      await flush({}, true);
    },
    get outcome() {
      return outcome;
    },
    async detach(waits) {
      try {
        await flush({ event: { type: 'turn-detached' }, detach: waits }, true);
      } catch (error) {
        if (error instanceof WaitEndedError) return false;
        // An earlier write whose reply was lost detached it, or another pod owns it. Either way this pod is done.
        if (!(error instanceof RunFencedError)) throw error;
      }
      return true;
    },
    end(event, end) {
      return flush({ event, end });
    },
  };
}

/** Adds an event to the queue, or its text to the last event there. Returns the size of that text, or 0. */
function coalesce(queue: TurnEvent[], event: TurnEvent): number {
  if (event.type !== 'text-delta') {
    queue.push(event);
    return 0;
  }
  const last = queue.at(-1);
  const joined =
    last?.type === 'text-delta' && last.block === event.block
      ? { ...event, text: last.text + event.text }
      : undefined;
  if (joined === undefined) queue.push(event);
  else queue[queue.length - 1] = joined;
  return (joined ?? event).text.length;
}
