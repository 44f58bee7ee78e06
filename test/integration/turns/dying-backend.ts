import type { Backend } from '@parley/shared/ports/backend';
import type { Heartbeats } from '@parley/shared/ports/runs/heartbeats';
import type { Runs } from '@parley/shared/ports/runs/runs';

export const DEATHS = ['before it is made', 'before its reply'] as const;

/** Which write of a pod is its last. */
export interface Death {
  readonly at: number;
  readonly when: (typeof DEATHS)[number];
}

/** The backend as a pod sees it whose death cuts it off permanently. */
export function createDyingBackend(backend: Backend, { at, when }: Death) {
  const state = { dead: false, writes: 0 };
  const never = new Promise<never>(() => undefined);
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
      state.dead = state.writes === at;
      if (state.dead && when === 'before it is made') return never;
      const result = await backend.runs.write(run, write);
      return state.dead ? never : result;
    },
  };
  return { state, heartbeats, runs };
}
