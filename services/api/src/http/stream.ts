import type { ServerResponse } from 'node:http';

export interface StreamOptions {
  /** How long a reader may leave its buffer full before it is disconnected, in ms. */
  readonly slowReaderMs: number;
  /** Aborted when the pod drains: the reader must reconnect, to another pod. */
  readonly draining: AbortSignal;
}

/**
 * How a stream ended: the source came to its end; the source returned `cut`, so that its reader reconnects; or the reader
 * disconnected or is too slow, or the pod drains.
 */
export type StreamEnd = 'end' | 'cut' | 'interrupted';

/**
 * Writes what a source yields until it ends, the reader disconnects or the pod drains. Holds the source back while the
 * reader is slow.
 */
export async function writeAll<Item>(
  res: ServerResponse,
  source: AsyncIterator<Item, unknown>,
  textOf: (item: Item) => string,
  { slowReaderMs, draining }: StreamOptions,
): Promise<StreamEnd> {
  const interruption = createInterruption(res, draining);
  try {
    for (;;) {
      const next = await interruption.orNext(source);
      if (next === undefined) return 'interrupted';
      if (next.done === true) return next.value === 'cut' ? 'cut' : 'end';
      if (!res.write(textOf(next.value)) && !(await drained(res, slowReaderMs))) return 'interrupted';
    }
  } finally {
    interruption.dispose();
    // Ends the source without waiting for it: it may sleep until its signal is aborted.
    source.return?.(undefined)?.catch(() => undefined);
  }
}

interface Interruption {
  /** The next item of the source, or nothing once the reader disconnected or the pod drains. */
  orNext<Item>(source: AsyncIterator<Item, unknown>): Promise<IteratorResult<Item, unknown> | undefined>;
  dispose(): void;
}

/**
 * What ends a stream from outside. Creates one promise per item instead of racing with two that last as long as the
 * stream: those would retain every item they were raced with.
 */
function createInterruption(res: ServerResponse, draining: AbortSignal): Interruption {
  let interrupted = draining.aborted || res.closed;
  let notify = (): void => undefined;
  const interrupt = () => {
    interrupted = true;
    notify();
  };
  res.once('close', interrupt);
  draining.addEventListener('abort', interrupt);
  return {
    orNext: (source) =>
      new Promise((resolve, reject) => {
        notify = () => resolve(undefined);
        if (interrupted) notify();
        else source.next().then(resolve, reject);
      }),
    dispose() {
      notify = () => undefined;
      res.off('close', interrupt);
      draining.removeEventListener('abort', interrupt);
    },
  };
}

/** Waits for the buffer to empty. False, with the connection destroyed, when the reader is gone or too slow. */
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
