import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamRef } from '@parley/core/domain/ids';
import type { RunQueue } from '../ports/runs/run-queue.ts';

const RETRY_MS = 500;

type Take = (stream: StreamRef) => Promise<void>;

/** The queue of runs in one process. Its consumers take turns. */
export function createMemoryRunQueue(): RunQueue {
  const waiting = new Map<string, StreamRef>();
  const consumers: Take[] = [];

  function remove(take: Take): void {
    const at = consumers.indexOf(take);
    if (at !== -1) consumers.splice(at, 1);
  }

  async function hand(key: string, stream: StreamRef, take: Take): Promise<void> {
    try {
      await take(stream);
    } catch {
      await sleep(RETRY_MS, undefined, { ref: false });
      waiting.set(key, stream);
      serveTakers();
    }
  }

  function serveTakers(): void {
    for (const [key, stream] of waiting) {
      const take = consumers.shift();
      if (take === undefined) return;
      consumers.push(take);
      waiting.delete(key);
      void hand(key, stream, take);
    }
  }

  return {
    async offer(stream, term) {
      waiting.set(keyOf(stream, term), stream);
      serveTakers();
    },
    withdraw: async (stream, term) => void waiting.delete(keyOf(stream, term)),
    consume(take) {
      let isClosed = false;
      const resume = () => {
        if (isClosed || consumers.includes(take)) return;
        consumers.push(take);
        serveTakers();
      };
      resume();
      return {
        pause: () => remove(take),
        resume,
        async close() {
          isClosed = true;
          remove(take);
        },
      };
    },
  };
}

function keyOf({ tenant, userId, streamRequestId }: StreamRef, term: number): string {
  return JSON.stringify([tenant, userId, streamRequestId, term]);
}
