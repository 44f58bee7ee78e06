/** Writes any source to a response with back pressure, budget and interruption. The format of events is in `sse.ts`. */

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Drain } from './life/drain.ts';

export interface StreamOptions {
  /** How long a reader may leave its buffer full before it is disconnected, in ms. */
  readonly slowReaderMs: number;
  /** Once the drain has begun, the reader must reconnect to another pod. */
  readonly drain: Drain;
  /** When the reader's token expires, on this pod's clock. */
  readonly expiresAtMs?: number | undefined;
  /** Counts written bytes. Returns for how many seconds the stream must pause, which is usually 0. */
  readonly sent?: ((bytes: number) => Promise<number>) | undefined;
}

// A budget is counted in steps of this many bytes. Most events of a chat are smaller, so they are counted together.
const COUNTED_BYTES = 1024;
// Pauses are extended by a random part of up to this share.
const PAUSE_SPREAD = 0.5;
// The longest timer in Node, 24 days. A stream may last longer.
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * How a stream ended. `end`: the source ended. `cut`: the source returned `cut`, so that its reader reconnects. `expired`: the
 * reader's token expired. `interrupted`: the reader disconnected or was too slow, or the pod drains.
 */
export type StreamEnd = 'end' | 'cut' | 'expired' | 'interrupted';

/**
 * Writes what a source yields until it ends, the reader disconnects, its token expires or the pod drains. Pauses the source
 * while the reader is slow.
 */
export async function writeAll<Item>(
  res: ServerResponse,
  source: AsyncIterator<Item, unknown>,
  textOf: (item: Item) => string,
  { slowReaderMs, drain, expiresAtMs, sent }: StreamOptions,
): Promise<StreamEnd> {
  const interruption = new Interruption(res, drain, expiresAtMs);
  const budget = sent === undefined ? undefined : new ReaderBudget(interruption, sent);
  // The pod holds this call for each stream. Work that happens only occasionally is in functions of its own, so that its
  // variables are freed.
  const nextOf = () => source.next();
  try {
    for (;;) {
      const next = await interruption.or(nextOf);
      if (next === undefined) return interruption.isExpired ? 'expired' : 'interrupted';
      if (next.done === true) return next.value === 'cut' ? 'cut' : 'end';
      const text = textOf(next.value);
      if (!res.write(text) && !(await drained(res, slowReaderMs))) return 'interrupted';
      const pause = budget?.count(text);
      if (pause !== undefined) await pause;
    }
  } finally {
    interruption.dispose();
    // Ends the source without waiting for it, because it may sleep until its signal is aborted.
    source.return?.(undefined)?.catch(() => undefined);
  }
}

/** Counts the bytes sent to a reader. It is a class because a pod holds one for each stream. */
class ReaderBudget {
  readonly #interruption: Interruption;
  readonly #sent: (bytes: number) => Promise<number>;
  #uncounted = 0;

  constructor(interruption: Interruption, sent: (bytes: number) => Promise<number>) {
    this.#interruption = interruption;
    this.#sent = sent;
  }

  /** The pause that the reader must make after this text; usually undefined. */
  count(text: string): Promise<void> | undefined {
    this.#uncounted += Buffer.byteLength(text);
    const counted = this.#uncounted - (this.#uncounted % COUNTED_BYTES);
    this.#uncounted -= counted;
    return counted === 0 ? undefined : pauseOverBudget(this.#interruption, this.#sent, counted);
  }
}

/**
 * Counts bytes, and pauses while the reader is over its budget. Streams of one reader continue at different times, so that they
 * do not exceed the next budget together.
 */
async function pauseOverBudget(
  interruption: Interruption,
  sent: (bytes: number) => Promise<number>,
  bytes: number,
): Promise<void> {
  for (let counted = bytes; !interruption.isOver; counted = COUNTED_BYTES) {
    // If the budget cannot be read, the stream continues.
    const seconds = await sent(counted).catch(() => 0);
    if (seconds === 0) return;
    const pauseMs = seconds * 1000 * (1 + Math.random() * PAUSE_SPREAD);
    await interruption.or(() => sleep(pauseMs, undefined, { ref: false }));
  }
}

/**
 * The events that end a stream from outside. It creates one promise per item. Racing with promises that last as long as the
 * stream would retain every item. It is a class because a pod holds one for each stream.
 */
class Interruption {
  readonly #res: ServerResponse;
  readonly #drain: Drain;
  readonly #expiresAtMs: number;
  readonly #interrupt = (): void => {
    this.isOver = true;
    this.#notify?.(undefined);
  };
  #notify: ((value: undefined) => void) | undefined;
  #expiry: NodeJS.Timeout | undefined;
  isOver: boolean;
  isExpired = false;

  constructor(res: ServerResponse, drain: Drain, expiresAtMs = Number.POSITIVE_INFINITY) {
    this.#res = res;
    this.#drain = drain;
    this.#expiresAtMs = expiresAtMs;
    this.isOver = drain.hasBegun || res.closed;
    this.#awaitExpiry();
    res.once('close', this.#interrupt);
    drain.add(this.#interrupt);
  }

  #awaitExpiry(): void {
    if (this.#expiresAtMs === Number.POSITIVE_INFINITY) return;
    const remainingMs = this.#expiresAtMs - Date.now();
    this.isExpired = remainingMs <= 0;
    if (this.isExpired) this.#interrupt();
    else this.#expiry = setTimeout(() => this.#awaitExpiry(), Math.min(remainingMs, TIMER_MS_MAX)).unref();
  }

  /** The result of `step`; undefined once the stream is interrupted. */
  or<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      this.#notify = resolve;
      if (this.isOver) resolve(undefined);
      else step().then(resolve, reject);
    });
  }

  dispose(): void {
    this.#notify = undefined;
    clearTimeout(this.#expiry);
    this.#res.off('close', this.#interrupt);
    this.#drain.remove(this.#interrupt);
  }
}

/** Waits until the buffer is empty. If the reader is gone or too slow, destroys the connection and returns false. */
async function drained(res: ServerResponse, slowReaderMs: number): Promise<boolean> {
  if (!res.writableNeedDrain) return true;
  const isDrained = await new Promise<boolean>((resolve) => {
    const settle = (value: boolean) => {
      clearTimeout(timer);
      res.off('drain', onDrain);
      res.off('close', onClose);
      resolve(value);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(onClose, slowReaderMs);
    res.once('drain', onDrain);
    res.once('close', onClose);
    if (res.closed) onClose();
  });
  if (!isDrained) res.destroy();
  return isDrained;
}
