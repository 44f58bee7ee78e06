import type { StreamRef } from '@parley/core/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Script } from '../../../stand-ins/scripted-model/script.ts';
import {
  type ScriptedModel,
  type ScriptedModelOptions,
  startScriptedModel,
} from '../../../stand-ins/scripted-model/scripted-model.ts';
import { engineOn } from '../engines/engines.ts';
import { answerQuestion } from '../engines/questions.ts';
import { ROOMY } from '../engines/settings.ts';
import { waitUntil } from '../wait-until.ts';
import { listOpen, podOn, readEvents, saying, type TestPod, talk } from './setup.ts';

/** Pods that look around often, and whose leases outlast a machine that is busy: a test says which pod is dead. */
export const TIMING = { renewMs: 50, leaseMs: 600_000 };

/** A question that the script of a model asks. */
export const SURE = { name: 'elicit', arguments: { kind: 'confirmation', message: 'Sure?' } };

/** The model of a test file. It is there from the file's first test to its last. */
export function modelOf(
  script: Script[number] | Script,
  more: Omit<ScriptedModelOptions, 'script'> = {},
): { readonly current: ScriptedModel } {
  const model: { current?: ScriptedModel } = {};
  beforeAll(async () => {
    model.current = await startScriptedModel({
      script: typeof script === 'function' ? [script] : script,
      ...more,
    });
  });
  afterAll(() => model.current?.stop());
  return {
    get current() {
      if (model.current === undefined) throw new Error('The model is not there yet.');
      return model.current;
    },
  };
}

/** Pods on one backend, and a person who talks to their agents. */
export type World = ReturnType<typeof worldOn>;

/** The pods end with the test. `defaults` are those of every pod; what they do is read through `onlooker`. */
export function worldOn(
  model: { readonly current: ScriptedModel },
  defaults: TestPod = {},
  backend: Backend = createMemoryBackend(ROOMY),
  onlooker: Backend = backend,
) {
  const conversation = talk();
  const engine = engineOn(onlooker);
  const dead = new Set<string>();
  const standing = (run: StreamRef) => onlooker.runs.standing(run);
  const events = (run: StreamRef) => readEvents(onlooker, run);
  return {
    backend,
    conversation,
    engine,
    /** Owners of runs that all pods take for dead, whatever they do. */
    dead,
    standing,
    events,
    pod(options: TestPod = {}, on: Backend = backend) {
      const { heartbeats } = on;
      const made = podOn(on, model.current, {
        leaseTiming: TIMING,
        heartbeats: {
          beat: heartbeats.beat,
          alive: async (pod) => !dead.has(pod) && heartbeats.alive(pod),
          connected: heartbeats.connected,
        },
        ...defaults,
        ...options,
      });
      onTestFinished(() => made.turns.close());
      return made;
    },
    saying: (text: string, of: ConversationRef = conversation) => saying(of, text),
    record: async (run: StreamRef) => (await onlooker.runs.read(run)).run,
    open: (of: ConversationRef = conversation) => listOpen(engine, of),
    /** The questions of the person once there are so many. */
    async asked(count = 1, of: ConversationRef = conversation) {
      const rows = () => listOpen(engine, of);
      await waitUntil(async () => (await rows()).length === count, { what: `${count} questions` });
      return rows();
    },
    answer: (id: string | undefined, action: 'accept' | 'decline' | 'cancel', answer?: unknown) =>
      answerQuestion(
        engine,
        conversation,
        id ?? '',
        action,
        answer === undefined ? undefined : ({ answer } as never),
      ),
    /** How a run ended. */
    ended: (run: StreamRef) =>
      waitUntil(
        async () => {
          const found = await standing(run);
          return found?.status === 'running' ? undefined : found?.status;
        },
        { what: 'the end of the run' },
      ),
    untilOwnedBy: (run: StreamRef, pod: string) =>
      waitUntil(async () => (await standing(run))?.owner.startsWith(`${pod}/`), { what: `the pod ${pod}` }),
    /** What the agent of a turn has said. */
    text: async (run: StreamRef) =>
      (await events(run)).map((event) => ('text' in event ? event.text : '')).join(''),
  };
}
