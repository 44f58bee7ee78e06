import type { ConversationRef, Delivery, RunRef } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import { repliesOf } from '../../services/api/src/agents/loop/model-step.ts';
import { silentTurnObserver } from '../../services/api/src/agents/run/observer.ts';
import { createElicitTool } from '../../services/api/src/agents/tools/elicit-tool.ts';
import { NO_OFFERING } from '../../services/api/src/agents/tools/mcp-offer.ts';
import { createTurns, type Turns } from '../../services/api/src/turns/turns.ts';
import { openBenchEngine, TENANT } from './engine.ts';
import { createMailbox } from './mailbox.ts';
import { createMockModel } from './mock-model.ts';

/** The turns of a pod, whose agent writes a little, asks once, and writes a little more. */
export interface TurnPod {
  readonly backend: Backend;
  readonly engine: Engine;
  readonly turns: Turns;
  /** Id of a turn's question, once it is open. Takes no call to Redis; nor does `finished`. */
  questionOf(run: RunRef): Promise<string>;
  /** Resolves once this pod has no more to do with a turn: it has ended, or is detached. */
  finished(run: RunRef): Promise<void>;
  close(): Promise<void>;
}

interface TurnPodOptions {
  /** Between two words of the model, in ms. */
  readonly wordMs: number;
  /** The next word of the model. */
  readonly word?: () => string;
  /** Replaces parts of the backend, to measure what they cost. */
  readonly instead?: (backend: Backend) => Partial<Backend>;
}

/** Opens a pod's turns on Redis, as a pod wires them, with a model in the same process. */
export async function openTurnPod(
  redisUrl: string,
  { wordMs, word, instead }: TurnPodOptions,
): Promise<TurnPod> {
  const { backend, engine, env } = await openBenchEngine(redisUrl, instead);
  const questions = createMailbox<string>();
  const finished = createMailbox<undefined>();
  const turns = createTurns({
    ...backend,
    engine: {
      ...engine,
      async ask(request) {
        const seen = await engine.ask(request);
        questions.put(seen.row.definition.streamRequestId, seen.row.id);
        return seen;
      },
    },
    observer: { ...silentTurnObserver, ended: (run) => finished.put(run.streamRequestId, undefined) },
    delegates: 'same-pod',
    holdMs: env.PARLEY_HOLD_SECONDS * 1000,
    hasAnswerPage: false,
    pod: 'bench',
    leaseTiming: { renewMs: env.PARLEY_LEASE_MS / 4, leaseMs: env.PARLEY_LEASE_MS },
    onFault: (error) => console.error(error),
    offering: NO_OFFERING,
    agents: {
      list: () => [{ id: 'helper', title: 'Helper' }],
      admit: (_caller, id = '') => id,
      isKnown: () => true,
      find: () => ({ id: 'helper', title: 'Helper' }),
      open: async () => ({
        reply: repliesOf({ model: createMockModel(wordMs, word), instructions: 'Help.', settings: {} }),
        tools: async () => [createElicitTool({ agent: 'Helper', takers: [], timeoutSeconds: 3600 })],
        limits: { steps: 5, tokens: 1_000_000, workMs: 600_000 },
      }),
    },
  });
  return {
    backend,
    engine,
    turns,
    questionOf: ({ streamRequestId }) => questions.take(streamRequestId),
    finished: ({ streamRequestId }) => finished.take(streamRequestId),
    async close() {
      await turns.close();
      await backend.close();
    },
  };
}

function conversationOf(index: number, name: string): ConversationRef {
  return { tenant: TENANT, userId: `user-${index}`, conversationId: `${name}-${index}` };
}

/** Begins a turn in a conversation of its own. */
export function beginTurn({ turns }: TurnPod, index: number, name: string, delivery?: Delivery) {
  return turns.begin({
    conversation: conversationOf(index, name),
    input: [{ role: 'user', content: 'Release it.' }],
    before: [],
    support: { form: true, url: true },
    ...(delivery !== undefined && { delivery }),
  });
}

export async function answer({ engine }: TurnPod, { tenant, userId }: RunRef, id: string): Promise<void> {
  await engine.answer({
    caller: { kind: 'user', tenant, userId },
    id,
    response: { action: 'accept', content: { answer: 'staging' } },
    surface: 'api',
  });
}
