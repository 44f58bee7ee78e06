import type { RunRef } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { RunNote, Runs, RunWrite, WriteResult } from '@parley/shared/ports/runs/runs';

// Text arrives in crumbs; a write for each would cost more than the model.
const COALESCE_MS = 25;
const COALESCE_CHARACTERS = 256;
const QUEUE_MAX = 500;

/** The run is somebody else's now, or it has ended: whoever still works on it must stop, and write nothing more. */
export class RunLostError extends Error {
  constructor() {
    super('The run has another owner, or it has ended.');
    this.name = 'RunLostError';
  }
}

/** Something that the run was to be detached for has ended. */
class RousedError extends Error {}

/** The turn has told as much as a turn may tell (`PARLEY_LIMIT_TURN_BYTES`). */
export class TurnTooLargeError extends Error {
  constructor() {
    super('The turn has told as much as a turn may tell.');
    this.name = 'TurnTooLargeError';
  }
}

export interface RunWriterOptions {
  readonly runs: Pick<Runs, 'write'>;
  readonly run: RunRef;
  readonly term: number;
  /** Number of the last event that the run has. */
  readonly writerSeq: number;
}

export type End = NonNullable<RunWrite['end']>;

/** What a last write does besides telling and keeping. */
type Last = Pick<RunWrite, 'end' | 'detach'> & { readonly event?: TurnEvent };

/**
 * What a run tells and keeps, written in order, several things at a time. Rides out an outage of Redis. Every method
 * rejects with RunLostError once the run is lost, and with TurnTooLargeError once it has told too much; `end` still
 * works then.
 */
export interface RunWriter {
  /** Tells an event, soon; text of one block is gathered for a moment. Waits only when too much is under way. */
  tell(event: TurnEvent): Promise<void>;
  /** Keeps notes and tells all that was to be told before them; resolves once both are kept. */
  keep(notes: readonly RunNote[]): Promise<void>;
  /** Keeps notes soon, with what is written next: such as whoever goes on with the run would come to by itself. */
  note(notes: readonly RunNote[]): Promise<void>;
  /**
   * Writes what is queued, and hears how the run stands even when that is nothing; unless a write told that less than
   * `ageMs` ago.
   */
  look(ageMs?: number): Promise<void>;
  /** Lets go of the run until one of these ends, and tells readers so. False when one has ended already. */
  detach(waits: NonNullable<RunWrite['detach']>): Promise<boolean>;
  /** Ends the run with its last event. */
  end(event: TurnEvent, end: End): Promise<void>;
  /** Under which the run is written. */
  readonly term: number;
  /** How the run ended, once that is written. */
  readonly outcome: End['status'] | undefined;
  /** Aborted when the run is lost. */
  readonly lost: AbortSignal;
  /** Aborted when a write heard that somebody asked the run to stop. */
  readonly stopped: AbortSignal;
}

/** The one writer of a run on this pod. */
export function createRunWriter({ runs, run, term, writerSeq }: RunWriterOptions): RunWriter {
  const lost = new AbortController();
  const stopped = new AbortController();
  let queue: TurnEvent[] = [];
  let notes: RunNote[] = [];
  let nextSeq = writerSeq + 1;
  /** May skip numbers, but gives none twice. */
  let writes = 0;
  /** Why nothing more can be told. */
  let fault: unknown;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let wroteAt = 0;
  let outcome: End['status'] | undefined;

  /** One write after the other; each takes all that is queued when its turn comes. */
  function flush(last: Last = {}, evenIfEmpty = last.end !== undefined): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const done = writing.then(() => writeQueued(last, evenIfEmpty));
    // The next write has its own say; what failed is told to those who wait for it.
    writing = done.catch(() => undefined);
    return done;
  }

  async function writeQueued(last: Last, evenIfEmpty: boolean): Promise<void> {
    const isLast = last.end !== undefined || last.detach !== undefined;
    if (fault !== undefined && (!isLast || fault instanceof RunLostError)) throw fault;
    const write = writeOf(last);
    if (write.events.length === 0 && notes.length === 0 && !evenIfEmpty) return;
    const given = { queue, notes };
    writes += 1;
    queue = [];
    notes = [];
    // Also while it is under way: no second look is to wait behind one that an outage holds.
    wroteAt = Number.POSITIVE_INFINITY;
    try {
      refuseUnlessWritten(await retryWhileUnavailable(() => runs.write(run, write)));
      nextSeq += write.events.length;
      outcome ??= last.end?.status;
    } catch (error) {
      if (error instanceof RousedError) {
        queue = [...given.queue, ...queue];
        notes = [...given.notes, ...notes];
      } else fault = error;
      if (error instanceof RunLostError) lost.abort(error);
      throw error;
    } finally {
      wroteAt = performance.now();
    }
  }

  function writeOf({ event, ...last }: Last): RunWrite {
    // What could not be kept before is not told after.
    const events = fault === undefined ? queue : [];
    return {
      term,
      number: writes + 1,
      firstSeq: nextSeq,
      events: event === undefined ? events : [...events, event],
      notes,
      ...last,
    };
  }

  function refuseUnlessWritten(result: WriteResult): void {
    if (result === 'full') throw new TurnTooLargeError();
    if (result === 'fenced' || result === 'gone') throw new RunLostError();
    if (result === 'roused') throw new RousedError();
    if (result === 'stopping') stopped.abort();
  }

  function soon(): void {
    timer ??= setTimeout(() => void flush().catch(() => undefined), COALESCE_MS);
  }

  return {
    term,
    lost: lost.signal,
    stopped: stopped.signal,
    async tell(event) {
      if (fault !== undefined) throw fault;
      const size = gather(queue, event);
      if (queue.length > QUEUE_MAX) return flush();
      if (size >= COALESCE_CHARACTERS) void flush().catch(() => undefined);
      else soon();
    },
    keep(given) {
      notes.push(...given);
      return flush();
    },
    async note(given) {
      if (fault !== undefined) throw fault;
      notes.push(...given);
      soon();
    },
    async look(ageMs = 0) {
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
        if (error instanceof RousedError) return false;
        // Detached by a write whose reply was lost, or another pod's: either way it is let go of.
        if (!(error instanceof RunLostError)) throw error;
      }
      return true;
    },
    end(event, end) {
      return flush({ event, end });
    },
  };
}

/** Adds an event to a queue, or its text to the text that waits there; the size of that text, or 0. */
function gather(queue: TurnEvent[], event: TurnEvent): number {
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
