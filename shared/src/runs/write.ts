/**
 * The one writer of a run on its pod: it orders, batches, coalesces and repeats writes. What a write may do is decided by
 * `domain/runs/transition.ts` in the store.
 */

import { retryWhileUnavailable } from '../async/retry-while-unavailable.ts';
import type { RunRef } from '../domain/runs/run.ts';
import type { TurnEvent } from '../domain/runs/turn-events.ts';
import type { RunNote, Runs, RunText, RunWrite, WriteResult } from '../ports/runs/runs.ts';
import { createRecentWrites } from './recent-writes.ts';
import { COALESCE_CHARACTERS, COALESCE_MS, createTextPublisher, type PendingText } from './text-publisher.ts';

const QUEUE_MAX = 500;
/** Published text is written after at most this time, in ms, because a reader that reconnects gets only written text. */
const STORE_MS = 500;
const STORE_CHARACTERS = 4_000;

/** Another pod owns the run, or the run has ended. The work must stop and write nothing more. */
export class RunFencedError extends Error {
  constructor() {
    super('Another pod owns the run, or the run has ended.');
    this.name = 'RunFencedError';
  }
}

/** One of the waits for which the run was to be detached has already ended. */
class WaitEndedError extends Error {}

/** The turn's feed has reached its size limit (`PARLEY_LIMIT_TURN_BYTES`). */
export class TurnTooLargeError extends Error {
  constructor() {
    super('The feed of the turn has reached its size limit.');
    this.name = 'TurnTooLargeError';
  }
}

/** Redis has lost more of the run than its writer can write again. The run can only be ended. */
export class RunLostError extends Error {
  constructor() {
    super('Redis has lost more of the run than its pod can write again.');
    this.name = 'RunLostError';
  }
}

interface RunWriterOptions {
  readonly runs: Pick<Runs, 'read' | 'write' | 'publish'>;
  readonly run: RunRef;
  readonly term: number;
  /** The sequence number of the run's last event. */
  readonly writerSeq: number;
}

type RunEnd = NonNullable<RunWrite['end']>;

/** What the last write of a run does in addition to appending events and saving notes. */
type FinalWrite = Pick<RunWrite, 'end' | 'detach'> & { readonly event?: TurnEvent };

/**
 * Writes a run's events and notes in order and in batches. It retries while Redis is unavailable, and repeats recent writes
 * that Redis has lost. Every method rejects with RunFencedError once another pod owns the run, with TurnTooLargeError once the
 * feed is full, and with RunLostError once too much was lost; after the last two, `end` still works.
 */
export interface RunWriter {
  /**
   * Queues an event. Text of one block is coalesced, and published before it is written. Waits for a write only when the queue
   * is full.
   */
  append(event: TurnEvent): Promise<void>;
  /** Saves notes after all queued events. Resolves once both are written. */
  save(notes: readonly RunNote[]): Promise<void>;
  /** Saves notes with the next write. For notes that a pod could reconstruct after a take-over. */
  saveSoon(notes: readonly RunNote[]): Promise<void>;
  /** Makes a write, even an empty one, to learn of a stop or take-over, unless the last one was less than `ageMs` ago. */
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
  /** The ordinal of the last write. Numbers may be skipped, but are never repeated. */
  let writes = 0;
  /** Why no further event can be written. The queue then stays empty, because of the gap. */
  let fault: unknown;
  let timer: { readonly at: number; readonly handle: NodeJS.Timeout } | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** The number of writes that are running or queued. */
  let writesDue = 0;
  let wroteAt = 0;
  let outcome: RunEnd['status'] | undefined;
  const publisher = createTextPublisher({ pending: pendingText, publish });

  /** Queues a write after the running one. It takes the whole queue of events when it starts. */
  function flush(final: FinalWrite = {}, evenIfEmpty = final.end !== undefined): Promise<void> {
    clearTimeout(timer?.handle);
    timer = undefined;
    publisher.taken();
    writesDue += 1;
    const done = writing.then(() => writeQueued(final, evenIfEmpty));
    // The next write runs in any case; only the caller of this one gets its error.
    writing = done
      .catch(() => undefined)
      .then(() => {
        writesDue -= 1;
        if (queue.length > 0) schedule();
      });
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
    // This also holds while the write is running: a second poll must not queue behind one that an outage delays.
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
      } else {
        fault = error;
        // Queued events can never follow the lost ones. If they were kept, every refused write would schedule the next one at
        // once.
        queue = [];
      }
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

  /** Continues the numbering after the events that the run still has, so that the end can be written. */
  async function giveUpLost(): Promise<never> {
    const { run: record } = await retryWhileUnavailable(() => runs.read(run));
    if (record === undefined) throw new RunFencedError();
    nextSeq = record.writerSeq + 1;
    throw new RunLostError();
  }

  function buildWrite({ event, ...final }: FinalWrite): RunWrite {
    return {
      term,
      number: writes + 1,
      firstSeq: nextSeq,
      events: event === undefined ? queue : [...queue, event],
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

  /** The queued text, if one text is all there is to write. */
  function onlyText(): PendingText | undefined {
    const [first, ...more] = queue;
    return more.length + notes.length === 0 && first?.type === 'text-delta' ? first : undefined;
  }

  /** The queued text, if it is all that is queued and no write is running; the next event then begins with it. */
  function pendingText(): PendingText | undefined {
    return writesDue === 0 ? onlyText() : undefined;
  }

  /** Writes the queue now or soon, and publishes text before that. */
  function schedule(): void {
    const text = onlyText();
    const last = queue.at(-1);
    const size = last?.type === 'text-delta' ? last.text.length : 0;
    if (size >= (text === undefined ? COALESCE_CHARACTERS : STORE_CHARACTERS)) {
      flushNow();
      return;
    }
    // While a write is running, text waits for its end, which schedules again.
    if (text !== undefined && writesDue > 0) return;
    flushWithin(text === undefined ? COALESCE_MS : STORE_MS);
    if (text !== undefined) publisher.grown();
  }

  function flushNow(): void {
    flush().catch(() => undefined);
  }

  function flushWithin(ms: number): void {
    const at = performance.now() + ms;
    if (timer !== undefined && timer.at <= at) return;
    clearTimeout(timer?.handle);
    timer = { at, handle: setTimeout(flushNow, ms) };
  }

  function publish(text: Pick<RunText, 'block' | 'offset' | 'text'>): void {
    runs.publish(run, { term, writerSeq: nextSeq - 1, ...text }).then(
      (result) => {
        if (result === 'stopping') stopped.abort();
        // A write gets the same result, and it ends the work.
        else if (result !== 'written') flushNow();
        if (writesDue === 0) wroteAt = performance.now();
      },
      // Publishing failed, so readers do not get the text until it is written.
      () => flushNow(),
    );
  }

  return {
    term,
    fenced: fenced.signal,
    stopped: stopped.signal,
    async append(event) {
      if (fault !== undefined) throw fault;
      coalesce(queue, event);
      if (queue.length > QUEUE_MAX) return flush();
      schedule();
    },
    save(added) {
      notes.push(...added);
      return flush();
    },
    async saveSoon(added) {
      if (fault !== undefined) throw fault;
      notes.push(...added);
      flushWithin(COALESCE_MS);
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
        const continues = waits.questions.length + waits.runs.length === 0;
        const event = { type: 'turn-detached', ...(continues && { continues }) } as const;
        await flush({ event, detach: waits }, true);
      } catch (error) {
        if (error instanceof WaitEndedError) return false;
        // Either an earlier copy of this write detached the run, or another pod owns it. In both cases, this pod is done.
        if (!(error instanceof RunFencedError)) throw error;
      }
      return true;
    },
    end(event, end) {
      return flush({ event, end });
    },
  };
}

/** Adds an event to the queue, or its text to the last event in the queue. */
function coalesce(queue: TurnEvent[], event: TurnEvent): void {
  const last = queue.at(-1);
  if (event.type === 'text-delta' && last?.type === 'text-delta' && last.block === event.block)
    queue[queue.length - 1] = { ...event, text: last.text + event.text };
  else queue.push(event);
}
