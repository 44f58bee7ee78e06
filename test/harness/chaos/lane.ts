import type { Socket } from 'node:net';

/** One direction of a proxied connection: bytes of `from` reach `to` unless a fault is set. */
export type Lane = {
  /** Holds bytes back without losing any; the sender feels it as backpressure. */
  stall(on: boolean): void;
  /** From now on bytes and closes vanish. There is no way back: the byte stream has a hole. */
  drop(): void;
};

export type LaneOptions = {
  from: Socket;
  to: Socket;
  delayMs: () => number;
  /** Called before each chunk is passed on; it may drop or reset the connection. */
  beforeChunk?: (chunk: Buffer) => void;
  /** Called after each chunk was passed on. */
  onChunk?: (chunk: Buffer) => void;
};

type Parcel = { due: number; chunk: Buffer | 'end' };

/** Forwards one socket to another, closes and resets included. Both must allow half-open connections. */
export function createLane({ from, to, delayMs, beforeChunk, onChunk }: LaneOptions): Lane {
  const queue: Parcel[] = [];
  let stalled = false;
  let dropping = false;
  let timer: NodeJS.Timeout | undefined;

  const setFlow = () => {
    if (dropping || (!stalled && !to.writableNeedDrain)) from.resume();
    else from.pause();
  };
  const pump = () => {
    clearTimeout(timer);
    while (queue[0] && !stalled && !dropping) {
      const wait = queue[0].due - performance.now();
      if (wait > 0) {
        timer = setTimeout(pump, wait);
        return;
      }
      pass(queue.shift()?.chunk);
    }
  };
  const pass = (chunk: Buffer | 'end' | undefined) => {
    if (chunk === undefined || to.destroyed || to.writableEnded) return;
    if (chunk === 'end') {
      to.end();
      return;
    }
    beforeChunk?.(chunk);
    if (dropping || to.destroyed) return;
    to.write(chunk);
    setFlow();
    onChunk?.(chunk);
  };
  const take = (chunk: Buffer | 'end') => {
    if (dropping) return;
    queue.push({ due: performance.now() + delayMs(), chunk });
    pump();
  };

  from.on('data', take);
  from.on('end', () => take('end'));
  from.on('error', () => undefined);
  from.on('close', (hadError) => {
    if (hadError && !dropping && !to.destroyed) to.resetAndDestroy();
  });
  to.on('drain', setFlow);
  to.on('close', () => clearTimeout(timer));
  return {
    stall(on) {
      stalled = on;
      setFlow();
      pump();
    },
    drop() {
      dropping = true;
      queue.length = 0;
      clearTimeout(timer);
      setFlow();
    },
  };
}
