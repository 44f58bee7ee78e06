import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationRef, RunRef } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import { MockLanguageModelV3 } from 'ai/test';
import { silentTurnObserver } from '../services/api/src/agents/loop/observer.ts';
import { createElicitTool } from '../services/api/src/agents/tools/elicit-tool.ts';
import { createTurns, type Turns } from '../services/api/src/turns/turns.ts';
import { openBenchEngine, TENANT } from './engine.ts';

const WORDS = 30;
const CALL = {
  type: 'tool-call',
  toolCallId: 'call_1',
  toolName: 'elicit',
  input: JSON.stringify({ kind: 'text', message: 'Which environment should this release go to?' }),
} as const;
const USAGE = {
  inputTokens: { total: 200, noCache: 200, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 60, text: 60, reasoning: undefined },
};

/** The turns of a pod, whose agent says a little, asks once, and says a little more. */
export interface TurnPod {
  readonly backend: Backend;
  readonly engine: Engine;
  readonly turns: Turns;
  /** The question of a turn, once it is open; its id. Heard without a call to Redis, as are the ends. */
  asked(run: RunRef): Promise<string>;
  /** Until this pod has no more to do with a turn: it has ended, or is detached. */
  left(run: RunRef): Promise<void>;
  close(): Promise<void>;
}

export interface TurnPodOptions {
  /** Between two words of the model, in ms. */
  readonly wordMs: number;
  /** What stands in for parts of the backend, to measure what they cost. */
  readonly instead?: (backend: Backend) => Partial<Backend>;
}

/** Opens a pod's turns on Redis, as a pod wires them, with a model in the same process. */
export async function openTurnPod(redisUrl: string, { wordMs, instead }: TurnPodOptions): Promise<TurnPod> {
  const { backend, engine, env } = await openBenchEngine(redisUrl, instead);
  const asked = createBoard<string>();
  const left = createBoard<undefined>();
  const turns = createTurns({
    ...backend,
    engine: {
      ...engine,
      async ask(request) {
        const seen = await engine.ask(request);
        asked.pin(seen.row.definition.streamRequestId, seen.row.id);
        return seen;
      },
    },
    observer: { ...silentTurnObserver, ended: (run) => left.pin(run.streamRequestId, undefined) },
    delegates: 'same-pod',
    holdMs: env.PARLEY_HOLD_SECONDS * 1000,
    pod: 'bench',
    rhythm: { beatMs: env.PARLEY_LEASE_MS / 4, aliveMs: env.PARLEY_LEASE_MS },
    onFault: (error) => console.error(error),
    agents: {
      find: () => ({ id: 'helper', title: 'Helper' }),
      open: async () => ({
        model: talkative(wordMs),
        instructions: 'Help.',
        tools: async () => [createElicitTool({ agent: 'Helper', takers: [], timeoutSeconds: 3600 })],
        settings: {},
        limits: { steps: 5, tokens: 1_000_000, workMs: 600_000 },
      }),
    },
  });
  return {
    backend,
    engine,
    turns,
    asked: ({ streamRequestId }) => asked.read(streamRequestId),
    left: ({ streamRequestId }) => left.read(streamRequestId),
    async close() {
      await turns.close();
      await backend.close();
    },
  };
}

/** What somebody waits for under a name; each thing is read once. */
function createBoard<T>() {
  const slots = new Map<string, { readonly pinned: Promise<T>; readonly pin: (value: T) => void }>();
  function slotOf(name: string) {
    const known = slots.get(name);
    if (known !== undefined) return known;
    let pin: (value: T) => void = () => undefined;
    const pinned = new Promise<T>((resolve) => {
      pin = resolve;
    });
    const slot = { pinned, pin };
    slots.set(name, slot);
    return slot;
  }
  return {
    pin: (name: string, value: T) => slotOf(name).pin(value),
    async read(name: string): Promise<T> {
      const value = await slotOf(name).pinned;
      slots.delete(name);
      return value;
    },
  };
}

function talkative(wordMs: number): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doStream: async ({ prompt }) => {
      const hasAnswer = prompt.some(({ role }) => role === 'tool');
      const parts = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: 't' },
        ...Array.from({ length: WORDS }, () => ({ type: 'text-delta', id: 't', delta: 'release ' })),
        { type: 'text-end', id: 't' },
        ...(hasAnswer ? [] : [CALL]),
        {
          type: 'finish',
          usage: USAGE,
          finishReason: { unified: hasAnswer ? 'stop' : 'tool-calls', raw: undefined },
        },
      ];
      return { stream: spoken(parts, wordMs) };
    },
  });
}

/** A stream of parts, its words as far apart as told. */
function spoken<T extends { readonly type: string }>(parts: readonly T[], wordMs: number) {
  async function* speak() {
    for (const part of parts) {
      if (part.type === 'text-delta' && wordMs > 0) await sleep(wordMs);
      yield part;
    }
  }
  return Readable.toWeb(Readable.from(speak())) as ReadableStream<never>;
}

export function conversationOf(index: number, name: string): ConversationRef {
  return { tenant: TENANT, userId: `user-${index}`, conversationId: `${name}-${index}` };
}

export async function answer({ engine }: TurnPod, { tenant, userId }: RunRef, id: string): Promise<void> {
  await engine.answer({
    caller: { kind: 'user', tenant, userId },
    id,
    response: { action: 'accept', content: { answer: 'staging' } },
    surface: 'api',
  });
}

/** Does `count` things, so many at once. */
export async function inLanes(
  count: number,
  lanes: number,
  run: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next; index < count; index = next) {
      next += 1;
      await run(index);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
