/** Pods in this process whose agent delegates to a remote A2A agent. */
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { ConversationRef, RunRef, Support } from '@parley/shared/domain/runs/run';
import type { Backend } from '@parley/shared/ports/backend';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { PushesOf } from '../../../services/api/src/agents/a2a/call-agent.ts';
import { createRemoteAgents } from '../../../services/api/src/agents/a2a/remote-agents.ts';
import { readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';
import { createAgents } from '../../../services/api/src/agents/loop/agents.ts';
import { silentTurnObserver } from '../../../services/api/src/agents/loop/observer.ts';
import { createMcpTools } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import type { Credentials } from '../../../services/api/src/agents/tools/credentials.ts';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import { createNamedTools } from '../../../services/api/src/agents/tools/named-tools.ts';
import { createToolbox } from '../../../services/api/src/agents/tools/toolbox.ts';
import { createTurns, type TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import { engineOn } from '../engines/engines.ts';
import { listOpen, readEvents, saying, talk } from '../turns/setup.ts';
import { waitUntil } from '../wait-until.ts';

export const NO_CREDENTIALS: Credentials = {
  present: async () => ({ type: 'absent' }),
  refused: async () => undefined,
  promote: async () => undefined,
  completeOpen: async () => undefined,
};

/**
 * A model whose first reply hands each task of the person to the remote agent, and that then repeats the outcomes. A task such
 * as `desk__book: Zermatt` names the tool.
 */
export function startHandingModel(): Promise<ScriptedModel> {
  return startScriptedModel({
    script: [
      ({ userText, results }) =>
        results.length > 0
          ? { text: results.map(({ text }) => text).join(' ') }
          : {
              calls: userText.split(' + ').map((words) => {
                const [task = '', name = 'delegate_to_desk'] = words.split(': ').reverse();
                return { name, arguments: { task } };
              }),
            },
    ],
  });
}

export interface RemotePodOptions {
  readonly model: ScriptedModel;
  readonly backend: Backend;
  /** Address of the card. */
  readonly cardUrl: string;
  readonly pod?: string;
  /** More of the remote agent's entry, and of the file. */
  readonly entry?: string;
  readonly file?: string;
  /** More of the entry of the agent that names the remote one. */
  readonly delegate?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: string;
  readonly credentials?: Credentials;
  readonly turns?: Partial<TurnsDeps>;
  /** Receives what the remote agent pushes. */
  readonly pushesOf?: PushesOf | undefined;
}

export function openRemotePod(options: RemotePodOptions) {
  const { model, backend, cardUrl, pod = 'pod', entry = ', credentialScope: none', file = '' } = options;
  const loaded = readAgentsConfig(
    `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.url}", model: scripted }
a2aAgents:
  desk: { title: Travel Desk, cardUrl: "${cardUrl}"${entry} }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., delegates: [{ agent: desk, description: Travels.${options.delegate ?? ''} }], limits: { steps: 5${options.limits ?? ''} } }
${file}`,
    'agents.yaml',
    options.env ?? {},
  );
  const engine = engineOn(backend);
  const mcp = createMcpTools({ clientInfo: { name: 'parley', version: '0' } });
  const a2a = createRemoteAgents();
  const deps = {
    loaded,
    mcp,
    a2a,
    pushesOf: options.pushesOf,
    credentials: options.credentials ?? NO_CREDENTIALS,
    onServerFailure: () => undefined,
  };
  const turns = createTurns({
    ...backend,
    engine,
    delegates: 'same-pod',
    hasAnswerPage: false,
    holdMs: 300_000,
    leaseTiming: { renewMs: 50, leaseMs: 2_000 },
    observer: silentTurnObserver,
    agents: createAgents({ loaded, toolsOf: createToolbox(deps), named: createNamedTools(deps) }),
    offering: NO_OFFERING,
    pod,
    onFault: (error) => process.stderr.write(`${String(error)}\n`),
    ...options.turns,
  });
  const close = async () => {
    await turns.close();
    a2a.close();
    await mcp.close();
  };

  async function handOver(
    words: string,
    more: { support?: Support; delivery?: 'hold' | 'detach'; conversation?: ConversationRef } = {},
  ) {
    const { conversation = talk(), ...rest } = more;
    const run = await turns.begin({ ...saying(conversation, words), ...rest });
    return { conversation, run };
  }

  return { engine, turns, close, backend, handOver };
}
export type RemotePod = ReturnType<typeof openRemotePod>;

export interface Begun {
  readonly conversation: ConversationRef;
  readonly run: RunRef;
}

/** The open questions of a conversation, once there are as many. */
export function questions(
  { engine }: Pick<RemotePod, 'engine'>,
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

export function answer(
  { engine }: Pick<RemotePod, 'engine'>,
  { conversation }: Pick<Begun, 'conversation'>,
  id: string,
  response: { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> },
) {
  const { tenant, userId } = conversation;
  const caller = { kind: 'user', tenant, userId } as const;
  return engine.answer({ caller, id, response: response as never, surface: 'test' });
}

/** What the model said at the end: the outcome of its call. */
export async function outcomeOf({ backend }: Pick<RemotePod, 'backend'>, { run }: Pick<Begun, 'run'>) {
  await waitUntil(
    async () => (await readEvents(backend, run)).some(({ type }) => /^turn-(?:finished|failed)$/.test(type)),
    { what: 'the end of the turn' },
  );
  const events = await readEvents(backend, run);
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
}
