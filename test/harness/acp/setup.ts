/** One pod in this process, and stock ACP clients that drive the agent of `parley acp` against it. */
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import type { NotifyRules } from '@parley/core/domain/notify';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createAcpAgent } from '../../../clients/cli/src/acp/agent.ts';
import type { AcpAgentOptions } from '../../../clients/cli/src/acp/options.ts';
import { FOR_ALL } from '../../../services/api/src/agents/mcp/visibility.ts';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import { withApproval } from '../../../services/api/src/agents/tools/approvals/gate.ts';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import { aiSdkRoutes } from '../../../services/api/src/surfaces/ai-sdk/routes.ts';
import { restRoutes } from '../../../services/api/src/surfaces/rest/routes.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { dispatchOn } from '../engines/engines.ts';
import { ROOMY } from '../engines/settings.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { asking, dispatchOften, listOpenOf, PAGE_URL } from '../protocols/pods.ts';
import { serveSurfaces } from '../protocols/served.ts';
import { userToken } from '../tokens.ts';
import { elicit, podOn, type TestPod } from '../turns/setup.ts';

const SECRET = 'a secret of tests, and of nothing else';

/** A pod with the chat calls and the calls under `/v1`. */
export interface AcpSite {
  readonly url: string;
  readonly engine: Engine;
  token(userId: string): Promise<string>;
  stop(): Promise<void>;
}

const text = (more: object) => ({
  name: 'elicit',
  arguments: { kind: 'text', message: 'Which colour?', ...more },
});
const CALLS: Readonly<Record<string, { readonly name: string; readonly arguments: object }>> = {
  colour: text({}),
  guess: text({ title: 'Colour', default: 'grey' }),
  private: text({ sensitive: true }),
  trip: {
    name: 'elicit',
    arguments: {
      kind: 'form',
      message: 'Where to?',
      schema: {
        type: 'object',
        properties: {
          city: { type: 'string', title: 'City', minLength: 3, default: 'Bern' },
          nights: { type: 'integer', minimum: 1, maximum: 14 },
          seat: {
            type: 'string',
            oneOf: [
              { const: 'w', title: 'Window' },
              { const: 'a', title: 'Aisle' },
            ],
          },
          meals: { type: 'array', items: { type: 'string', enum: ['lunch', 'dinner'] } },
          bag: { type: 'boolean' },
        },
        required: ['city'],
      },
    },
  },
  page: { name: 'page', arguments: {} },
  link: { name: 'link', arguments: {} },
  broken: { name: 'broken', arguments: {} },
  pay: { name: 'pay', arguments: { amount: 7 } },
  tip: { name: 'tip', arguments: { amount: 1 } },
};

/** The agent makes the calls that the words of the message name, in one step, and then repeats their results. */
function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard: ${results.map((result) => result.text).join(' ')}` };
  const calls = userText.split(' ').flatMap((word) => CALLS[word] ?? []);
  return calls.length === 0 ? { text: `Hello: ${userText}` } : { text: 'One moment.', calls: calls as never };
}

const page = { mode: 'url', message: 'Connect it.', url: PAGE_URL, timeoutSeconds: 600 } as const;
const PAY = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
const HINTS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
/** A tool whose calls are made only after a person has approved them. */
const approved = (name: string, remember?: 'conversation') =>
  withApproval(
    { ...PAY, name, call: async () => ({ type: 'returned', output: 'paid' }) },
    {
      policy: { rule: 'always', remember, demands: () => true },
      server: 'bank',
      serverTitle: 'Bank',
      source: { ...PAY, name, modelName: name, hints: HINTS, visibility: FOR_ALL },
      timeoutSeconds: 600,
    },
  );
const TOOLS: readonly Tool[] = [
  approved('pay'),
  approved('tip', 'conversation'),
  elicit,
  asking('page', { ...page, completion: 'server' }),
  asking('link', { ...page, completion: 'client' }),
];

/** Opens a pod on the memory backend. */
export async function openAcpSite({
  notify,
  ...options
}: Pick<TestPod, 'hasAnswerPage' | 'hasChannel' | 'holdMs'> & {
  readonly notify?: NotifyRules;
} = {}): Promise<AcpSite> {
  const model = await startScriptedModel({ script: [line], delayMs: 1 });
  const backend = createMemoryBackend(ROOMY);
  const { engine, turns } = podOn(backend, model, {
    agents: { helper: { tools: TOOLS, ...(notify !== undefined && { notify }) } },
    ...options,
  });
  const timer = dispatchOften(dispatchOn(backend));
  const limits = callLimitsOn(backend.limits);
  const webhooks = createWebhooks({ ...backend, ...ROOMY });
  const eraseUser = (() => undefined) as never;
  const bounds = { keptMs: 60_000, positionsMax: 500, entryCharactersMax: 65_536 };
  const workflows = { records: backend.ownerRecords.workflows, ...bounds };
  const { url, stop } = await serveSurfaces(
    () => [
      restRoutes({ engine, limits, webhooks, hasConnectPage: () => false, eraseUser, workflows }),
      aiSdkRoutes({ engine, limits, turns, eraseConversation: eraseUser }),
    ],
    {
      limits,
      authenticate: createAuthenticate({
        serviceKeys: [],
        verify: createTokenVerifier({ secret: SECRET, tenants: [], userClaim: 'sub' }),
      }),
    },
  );
  return {
    url,
    engine,
    token: (userId) => userToken({ secret: SECRET, userId, tenant: 'acme' }),
    async stop() {
      clearInterval(timer);
      stop();
      await turns.close();
      await backend.close();
      await model.stop();
    },
  };
}

export type Asked = CreateElicitationRequest;
/** What the person at an editor does with a question; `signal` is aborted when the agent takes it back. */
export type AnswerTo = (
  asked: Asked,
  signal: AbortSignal,
) => CreateElicitationResponse | Promise<CreateElicitationResponse>;

export interface Editor {
  readonly agent: ClientContext;
  /** Everything that the agent asked, sent and completed, in order. */
  readonly asked: readonly Asked[];
  readonly updates: readonly { readonly sessionId: string; readonly update: SessionUpdate }[];
  readonly completed: readonly string[];
  readonly permissions: readonly RequestPermissionRequest[];
  /** Every message that the agent wrote, as it was on the wire. */
  readonly wire: readonly AnyMessage[];
  readonly log: readonly string[];
  /** The text of the agent in one session. */
  text(sessionId: string): string;
  newSession(): Promise<string>;
  say(sessionId: string, text: string): Promise<{ readonly stopReason: string }>;
  close(): void;
}

/** Starts an agent as one editor does, and connects the client of the stock SDK to it. */
export async function openEditor(
  options: Pick<AcpAgentOptions, 'baseUrl' | 'token'> & Partial<AcpAgentOptions>,
  capabilities: ClientCapabilities = { elicitation: { form: {}, url: {} } },
  answer: AnswerTo = () => ({ action: 'cancel' }),
  permit?: string,
): Promise<Editor> {
  const log: string[] = [];
  const own = { version: '0.0.0', log: (entry: string) => void log.push(entry), retry: { firstDelayMs: 20 } };
  const toAgent = new TransformStream<Uint8Array>();
  const toClient = new TransformStream<Uint8Array>();
  createAcpAgent({ ...own, ...options }).connect(ndJsonStream(toClient.writable, toAgent.readable));
  const editor = await connectEditor(
    ndJsonStream(toAgent.writable, toClient.readable),
    capabilities,
    answer,
    permit,
  );
  return { ...editor, log };
}

/** Connects the client of the stock SDK to an agent. `permit` is the option that its person chooses; without it none. */
export async function connectEditor(
  stream: ReturnType<typeof ndJsonStream>,
  capabilities: ClientCapabilities,
  answer: AnswerTo,
  permit?: string,
): Promise<Omit<Editor, 'log'>> {
  const asked: Asked[] = [];
  const completed: string[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const updates: Editor['updates'][number][] = [];
  const wire: AnyMessage[] = [];
  const tap = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      wire.push(message);
      controller.enqueue(message);
    },
  });
  const app = client({ name: 'editor' })
    .onRequest(methods.client.elicitation.create, ({ params, signal }) => {
      asked.push(params);
      return answer(params, signal);
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      return {
        outcome: permit === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: permit },
      };
    })
    .onNotification(
      methods.client.elicitation.complete,
      ({ params }) => void completed.push(params.elicitationId),
    )
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params));
  const connection = app.connect({ writable: stream.writable, readable: stream.readable.pipeThrough(tap) });
  const { agent } = connection;
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: capabilities,
  });
  return {
    agent,
    asked,
    updates,
    completed,
    permissions,
    wire,
    text: (sessionId) =>
      updates
        .flatMap(({ sessionId: id, update }) =>
          id === sessionId && update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text'
            ? [update.content.text]
            : [],
        )
        .join(''),
    newSession: async () =>
      (await agent.request(methods.agent.session.new, { cwd: '/tmp', mcpServers: [] })).sessionId,
    say: (sessionId, words) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: words }] }),
    close: () => connection.close(),
  };
}

/** The calls of a person that wait for an approval. */
export async function openApprovals(engine: Engine, userId: string) {
  const page = { owner: { tenant: 'acme', userId }, statuses: ['pending'], limit: 50 } as const;
  return (await engine.approvals.list(page)).rows;
}

/** The questions of a person that are open. */
export const openQuestions = (engine: Engine, userId: string) =>
  listOpenOf(engine, { tenant: 'acme', userId });
