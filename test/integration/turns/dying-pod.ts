import type { ScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { podOn, type TestAgent } from '../../harness/turns/setup.ts';
import { TIMING, type World } from '../../harness/turns/site.ts';
import { createDyingBackend } from './dying-backend.ts';

/** A pod named "first" that dies at a write: nothing that it sends from then on arrives, and others see that it is dead. */
export function startDyingPod(
  { backend, dead, standing }: World,
  model: ScriptedModel,
  agents: Readonly<Record<string, TestAgent>>,
  ...[when, isLast]: [Parameters<typeof createDyingBackend>[1], Parameters<typeof createDyingBackend>[2]]
) {
  const { state, runs, heartbeats } = createDyingBackend(backend, when, isLast);
  const { turns } = podOn(backend, model, {
    agents,
    pod: 'first',
    leaseTiming: TIMING,
    heartbeats,
    runs: {
      ...runs,
      async write(run, write) {
        const owner = (await standing(run))?.owner ?? '';
        const written = runs.write(run, write);
        if (state.dead) dead.add(owner);
        return written;
      },
    },
  });
  return { turns, state };
}
