import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { mintStreamRequestId, type StreamRef } from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import type { ConversationRef, Message } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import type { TakenImages } from '../../../services/api/src/agents/loop/images.ts';
import { repliesOf } from '../../../services/api/src/agents/loop/model-step.ts';
import type { RunLimits } from '../../../services/api/src/agents/loop/run-steps.ts';
import type { TurnRequest } from '../../../services/api/src/agents/loop/turn-work.ts';
import { silentTurnObserver } from '../../../services/api/src/agents/run/observer.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { createElicitTool } from '../../../services/api/src/agents/tools/elicit-tool.ts';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import type { StartRequest } from '../../../services/api/src/turns/start.ts';
import { createTurns, type TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import type { ScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { engineOn } from '../engines/engines.ts';
import { readEntries } from '../engines/observe.ts';
import { newOwner } from '../engines/questions.ts';

/** An agent of a test, by its id; instructions tell a script who speaks. */
export interface TestAgent {
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<RunLimits>;
  readonly notify?: NotifyRules;
  readonly images?: TakenImages;
  /** True: it cannot be opened. */
  readonly isBroken?: boolean;
}

export interface TestPod extends Partial<Omit<TurnsDeps, 'agents'>> {
  /** True: the model gives every call the same id. */
  readonly numbersCallsAnew?: boolean;
  readonly agents?: Readonly<Record<string, TestAgent>>;
}

const LIMITS: RunLimits = { steps: 5, tokens: 100_000, workMs: 60_000 };

export const elicit = createElicitTool({ agent: 'The helper', takers: [], timeoutSeconds: 600 });

/** The turns of one pod on a backend. Its agent asks its person, unless it is given others; the first one is the default. */
export function podOn(backend: Backend, model: ScriptedModel, options: TestPod = {}) {
  const { agents = { helper: { tools: [elicit] } }, numbersCallsAnew = false, ...deps } = options;
  const engine = engineOn(backend);
  const faults: unknown[] = [];
  const turns = createTurns({
    observer: silentTurnObserver,
    engine,
    runs: backend.runs,
    conversations: backend.conversations,
    feed: backend.feed,
    heartbeats: backend.heartbeats,
    runQueue: backend.runQueue,
    delegates: 'same-pod',
    holdMs: 300_000,
    hasAnswerPage: false,
    agents: {
      list: () => Object.keys(agents).map((id) => ({ id, title: `The ${id}` })),
      admit: (_caller, id = Object.keys(agents)[0] ?? '') => id,
      isKnown: (id) => agents[id] !== undefined,
      find: (id = Object.keys(agents)[0] ?? '') => {
        const { notify, images } = agents[id] ?? {};
        return { id, title: `The ${id}`, images, ...(notify !== undefined && { notify }) };
      },
      async open(id) {
        if (agents[id] === undefined || agents[id].isBroken === true)
          throw new Error(`The agent ${id} cannot be opened.`);
        return {
          reply: repliesOf({
            model: createOpenAICompatible({
              name: 'scripted',
              baseURL: model.url,
              includeUsage: true,
              ...(numbersCallsAnew && { fetch: fetchNumberedAnew }),
            })('scripted'),
            instructions: id,
            settings: {},
            images: agents[id]?.images,
          }),
          tools: async () => agents[id]?.tools ?? [],
          limits: { ...LIMITS, ...agents[id]?.limits },
        };
      },
    },
    offering: NO_OFFERING,
    pod: 'pod',
    onFault: (error) => faults.push(error),
    ...deps,
  });
  return { engine, turns, faults };
}

/** A reply in which every call has the same id. */
async function fetchNumberedAnew(...request: Parameters<typeof fetch>): Promise<Response> {
  const reply = await fetch(...request);
  return new Response((await reply.text()).replaceAll(/call_[A-Za-z0-9_-]+/g, 'call_0'), reply);
}

export function talk(conversationId = 'talk'): ConversationRef {
  return { ...newOwner(), conversationId };
}

/** What a client sends that shows every question. */
export function saying(
  conversation: ConversationRef,
  content: string,
  before: readonly Message[] = [],
): TurnRequest {
  return {
    conversation,
    input: [{ role: 'user', content }],
    before,
    support: { form: true, url: true },
  };
}

/** What a chat posts for a message of its person. */
export function posting(
  { tenant, userId, conversationId }: ConversationRef,
  content: string,
  agent?: string,
): StartRequest {
  return {
    caller: { kind: 'user', tenant, userId },
    conversationId,
    messages: [{ role: 'user', content }],
    agent,
    support: { form: true, url: true },
    delivery: 'hold',
    draining: false,
    admitted: Promise.resolve(),
  };
}

export async function readEvents(backend: Backend, stream: StreamRef): Promise<TurnEvent[]> {
  const entries = await readEntries(backend.feed, stream);
  return entries.map(({ event }) => turnEventOf(event)).filter((event) => event !== undefined);
}

/** The questions that a person has open. */
export async function listOpen(engine: Engine, { tenant, userId }: ConversationRef) {
  const request = { owner: { tenant, userId }, statuses: ['pending', 'opened'], limit: 50 } as const;
  return (await engine.list(request)).rows;
}

/** A run of a pod that died before it wrote anything more. */
export function lostRun(conversation: ConversationRef, said = 'before') {
  return {
    ...conversation,
    streamRequestId: mintStreamRequestId(),
    agent: 'helper',
    owner: 'a-pod-that-died',
    support: { form: true, url: true },
    input: [{ role: 'user', content: said }],
    event: {
      type: 'turn-started',
      conversationId: conversation.conversationId,
      messageId: 'msg',
      agent: 'helper',
    },
  } as const;
}
