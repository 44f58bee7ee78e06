/** A pod in this process whose agent delegates to an agent of another protocol. */
import type { Row } from '@parley/shared/domain/elicitations/row';
import { type ConversationRef, DETACHED, type RunRef, type Support } from '@parley/shared/domain/runs/run';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { Backend } from '@parley/shared/ports/backend';
import { onTestFinished } from 'vitest';
import { readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';
import { createAgents } from '../../../services/api/src/agents/loop/agents.ts';
import { createMcpTools } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { createToolbox, type ToolboxDeps } from '../../../services/api/src/agents/offer/toolbox.ts';
import { silentTurnObserver } from '../../../services/api/src/agents/run/observer.ts';
import type { Credentials } from '../../../services/api/src/agents/tools/credentials.ts';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import { createNamedTools } from '../../../services/api/src/agents/tools/named-tools.ts';
import { createTurns, type TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import { type ScriptedModel, startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { engineOn } from '../engines/engines.ts';
import { listOpen, readEvents, saying, talk } from '../turns/setup.ts';
import { waitUntil } from '../wait-until.ts';
import { writeFault } from './served.ts';

export const NO_CREDENTIALS: Credentials = {
  present: async () => ({ type: 'absent' }),
  widen: async () => undefined,
  refused: async () => undefined,
  promote: async () => undefined,
  completeOpen: async () => undefined,
};

/**
 * A model whose first reply hands each task of the person to an agent, and that then repeats the outcomes. A task such as
 * `desk__book: Zermatt` names the tool.
 */
export function startHandingModel(tool: string): Promise<ScriptedModel> {
  return startScriptedModel({
    script: [
      ({ userText, results }) =>
        results.length > 0
          ? { text: results.map(({ text }) => text).join(' ') }
          : {
              calls: userText.split(' + ').map((words) => {
                const [task = '', name = tool] = words.split(': ').reverse();
                return { name, arguments: { task } };
              }),
            },
    ],
  });
}

export interface DelegatingPodOptions {
  readonly model: ScriptedModel;
  readonly backend: Backend;
  /** The file of agents, without its models. */
  readonly file: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly credentials?: Credentials | undefined;
  readonly toolbox?: Pick<ToolboxDeps, 'acp' | 'a2a' | 'agUi' | 'pushesOf'>;
  readonly turns?: Partial<TurnsDeps> | undefined;
}

export interface Begun {
  readonly conversation: ConversationRef;
  readonly run: RunRef;
}

export type Answered = {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, unknown>;
};

export function openDelegatingPod({ model, backend, file, env = {}, ...options }: DelegatingPodOptions) {
  const models = `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.url}", model: scripted }
`;
  const loaded = readAgentsConfig(`${models}${file}`, 'agents.yaml', env);
  const engine = engineOn(backend);
  const mcp = createMcpTools({ clientInfo: { name: 'parley', version: '0' } });
  const deps = {
    loaded,
    mcp,
    credentials: options.credentials ?? NO_CREDENTIALS,
    clientRequests: createClientRequests(backend),
    onServerFailure: () => undefined,
    ...options.toolbox,
  };
  const turns = createTurns({
    ...backend,
    engine,
    delegates: 'same-pod',
    hasAnswerPage: false,
    holdMs: 300_000,
    // A pod on a busy machine must not be mistaken for a dead one.
    leaseTiming: { renewMs: 100, leaseMs: 20_000 },
    observer: silentTurnObserver,
    agents: createAgents({ loaded, toolsOf: createToolbox(deps), named: createNamedTools(deps) }),
    offering: NO_OFFERING,
    pod: 'pod',
    onFault: writeFault,
    ...options.turns,
  });
  const close = async () => {
    await turns.close();
    await mcp.close();
  };

  async function handOver(
    words: string,
    more: { support?: Support; delivery?: 'hold' | 'detach'; conversation?: ConversationRef } = {},
  ): Promise<Begun> {
    const { conversation = talk(), ...rest } = more;
    const run = await turns.begin({ ...saying(conversation, words), ...rest });
    return { conversation, run };
  }

  return { engine, turns, close, backend, handOver };
}
export type DelegatingPod = ReturnType<typeof openDelegatingPod>;

/** The open questions of a conversation, once there are as many. */
export function questions(
  { engine }: Pick<DelegatingPod, 'engine'>,
  { conversation }: Pick<Begun, 'conversation'>,
  count = 1,
): Promise<readonly Row[]> {
  return waitUntil(
    async () => {
      const open = await listOpen(engine, conversation);
      return open.length === count && open;
    },
    { what: `${count} questions` },
  );
}

/** The id of the only open question, once it is there. */
export async function questionId(...place: Parameters<typeof questions>): Promise<string> {
  return (await questions(...place))[0]?.id ?? '';
}

export function answer(
  { engine }: Pick<DelegatingPod, 'engine'>,
  { conversation: { tenant, userId } }: Pick<Begun, 'conversation'>,
  id: string,
  response: Answered,
) {
  const caller = { kind: 'user', tenant, userId } as const;
  return engine.answer({ caller, id, response: response as never, surface: 'test' });
}

/** Answers what a turn asks with `red` until it is over, whichever pod has it. Returns the ids of the questions. */
export async function answerUntilOver(
  pod: DelegatingPod,
  begun: Begun,
  what: string,
): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  const leave = pod.turns.attend(begun.run);
  await waitUntil(
    async () => {
      const [open] = await listOpen(pod.engine, begun.conversation);
      if (open !== undefined) {
        answered.add(open.id);
        await answer(pod, begun, open.id, { action: 'accept', content: { answer: 'red' } });
      }
      return (await pod.backend.runs.standing(begun.run))?.status !== 'running';
    },
    { what, timeoutMs: 60_000 },
  );
  leave();
  return answered;
}

/** Answers the only question, once it is there, with one text. Returns its id. */
export async function answerText(...[pod, begun, text]: [DelegatingPod, Begun, string]): Promise<string> {
  const id = await questionId(pod, begun);
  await answer(pod, begun, id, { action: 'accept', content: { answer: text } });
  return id;
}

/** What the model said at the end: the outcome of its call. */
export async function outcomeOf(
  { backend }: Pick<DelegatingPod, 'backend'>,
  { run }: Pick<Begun, 'run'>,
): Promise<string> {
  const events = await waitUntil(
    async () => {
      const all = await readEvents(backend, run);
      return all.some(({ type }) => /^turn-(?:finished|failed)$/.test(type)) && all;
    },
    { what: 'the end of the turn', timeoutMs: 60_000 },
  );
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}

export function whenDetached(backend: Backend, { run }: Pick<Begun, 'run'>) {
  const isDetached = async () => (await backend.runs.standing(run))?.owner === DETACHED;
  return waitUntil(isDetached, { what: 'the turn to be detached' });
}

/** Closes them after the test, the last one first. */
export function closeAfterTest(...closings: readonly (() => unknown)[]): void {
  onTestFinished(async () => {
    for (const close of closings.toReversed()) await close();
  });
}
