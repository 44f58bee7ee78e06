import { ParleyError } from '@parley/core/domain/errors';
import type { Backend } from '@parley/shared/ports/backend';
import type { Heartbeats } from '@parley/shared/ports/runs/heartbeats';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { Runs, RunWrite } from '@parley/shared/ports/runs/runs';

export const DEATHS = ['before it is made', 'before its reply'] as const;

/** Which write of a pod is its last. */
export interface Death {
  readonly at: number;
  readonly when: (typeof DEATHS)[number];
}

/** The backend as a pod sees it whose death at the first write for which `isLast` is true cuts it off permanently. */
export function createDyingBackend(
  backend: Backend,
  when: Death['when'],
  isLast: (write: RunWrite, count: number) => boolean,
) {
  const state = { dead: false, writes: 0 };
  const never = new Promise<never>(() => undefined);
  let die: (reason: unknown) => void = () => undefined;
  const died = new Promise<never>((_, reject) => {
    die = reject;
  });
  died.catch(() => undefined);
  const heartbeats: Pick<Heartbeats, 'beat' | 'alive' | 'connected'> = {
    beat: async (pod, ttlMs) => (state.dead ? never : backend.heartbeats.beat(pod, ttlMs)),
    alive: (pod) => backend.heartbeats.alive(pod),
    connected: async () => true,
  };
  const runs: Runs = {
    ...backend.runs,
    async write(run, write) {
      if (state.dead) return never;
      state.writes += 1;
      state.dead = isLast(write, state.writes);
      if (state.dead) die(new ParleyError('pod_busy', 'This pod is dead.'));
      if (state.dead && when === 'before it is made') return never;
      const result = await backend.runs.write(run, write);
      return state.dead ? never : result;
    },
  };
  // The queue gives what a dead process had taken to another one. This process lives on, and would keep it.
  const runQueue: RunQueue = {
    ...backend.runQueue,
    consume(take) {
      const consumer = backend.runQueue.consume((stream) => Promise.race([died, take(stream)]));
      died.catch(() => consumer.pause());
      return consumer;
    },
  };
  return { state, heartbeats, runs, runQueue };
}
