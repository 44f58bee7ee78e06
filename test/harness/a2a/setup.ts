/** Two pods in this process, on one Redis, each with the A2A surface. Stock clients reach a random one with each request. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { a2aPushKinds, type DeliverPushDeps } from '@parley/shared/delivery/a2a-push/deliver';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import type { Owner } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { resumeRunKind } from '@parley/shared/runs/resume';
import { createPushSender, createPushStoreOf } from '@parley/shared/runtime/a2a/push';
import type { Env } from '@parley/shared/runtime/env';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import { startScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { Tool } from '../../../services/api/src/agents/tools/tool.ts';
import type { Authenticate } from '../../../services/api/src/http/auth.ts';
import type { CallLimitSettings } from '../../../services/api/src/http/limits/call-limits.ts';
import { createRouter } from '../../../services/api/src/http/router.ts';
import { createServe } from '../../../services/api/src/http/serve.ts';
import { unauthenticated } from '../../../services/api/src/http/token.ts';
import type { A2aDeps } from '../../../services/api/src/surfaces/a2a/deps.ts';
import { a2aRoutes } from '../../../services/api/src/surfaces/a2a/routes.ts';
import { wirePush } from '../../../services/api/src/wiring/a2a.ts';
import { newOwner } from '../engines/questions.ts';
import { openRedisPods } from '../engines/redis-pods.ts';
import { ROOMY } from '../engines/settings.ts';
import { listenOnFreePort } from '../free-port.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { startRedis } from '../redis/redis-server.ts';
import { elicit, podOn } from '../turns/setup.ts';

export const PAGE_URL = 'https://connect.example/page';
export const BODY_BYTES_MAX = 64 * 1024;
const DISPATCH_MS = 20;

export interface A2aPod {
  readonly url: string;
  readonly engine: Engine;
  readonly backend: Backend;
}

export interface A2aSite {
  readonly pods: readonly A2aPod[];
  stop(): Promise<void>;
}

const ASKS: Readonly<
  Record<string, { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }>
> = {
  twice: { name: 'elicit', arguments: { kind: 'text', message: 'Which colour first?' } },
  text: { name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } },
  trip: { name: 'trip', arguments: {} },
  page: { name: 'page', arguments: {} },
  short: { name: 'short', arguments: {} },
};

/** The agent asks what the words of its task name, in one step; `fail` fails, `twice` asks in two steps. Then it repeats what it heard. */
function line({
  userText,
  results,
  messages,
}: Pick<Turn, 'userText' | 'results' | 'messages'>): ScriptedReply {
  if (userText === 'twice' && results.length === 1) return line({ userText: 'text', results: [], messages });
  if (results.length > 0) return { text: `Heard: ${results.map(({ text }) => text).join(' ')}` };
  const [words = ''] = userText.split(':');
  const calls = words.split(' ').flatMap((word) => ASKS[word] ?? []);
  if (words === 'before') return { text: `Before: ${JSON.stringify(messages.slice(1, -1))}` };
  if (words === 'filter') return { text: 'That is', finishReason: 'content_filter' };
  if (words === 'slow') return { text: 'One moment.', calls: [{ name: 'slow', arguments: {} }] };
  return calls.length === 0 ? { text: `Hello: ${userText}` } : { text: 'One moment.', calls };
}

const asking = (name: string, question: Parameters<Parameters<Tool['call']>[0]['ask']>[1]): Tool => ({
  name,
  description: 'Asks.',
  inputSchema: { type: 'object' },
  async call(call) {
    const outcome = await call.ask(0, question);
    return {
      type: 'returned',
      output: 'content' in outcome && outcome.content ? outcome.content : outcome.status,
    };
  },
});

const TRIP = {
  type: 'object',
  properties: { seat: { type: 'string', enum: ['window', 'aisle'] }, bags: { type: 'integer', minimum: 0 } },
  required: ['seat'],
} as const;

const TOOLS: Tool[] = [
  elicit,
  asking('trip', { mode: 'form', message: 'How do you travel?', requestedSchema: TRIP, timeoutSeconds: 600 }),
  asking('page', {
    mode: 'url',
    message: 'Open it.',
    url: PAGE_URL,
    completion: 'server',
    timeoutSeconds: 600,
  }),
  asking('short', {
    mode: 'form',
    message: 'Quick?',
    requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
    timeoutSeconds: 1,
  }),
  {
    name: 'slow',
    description: 'Works until it is stopped.',
    inputSchema: { type: 'object' },
    call: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
];

export const AGENTS: A2aDeps['agents'] = [
  { id: 'helper', title: 'Helper', description: 'Helps.', answers: 'user' },
  { id: 'speaker', title: 'Speaker', description: 'Takes answers of callers.', answers: 'caller' },
];

export interface A2aSiteOptions {
  /** Settings of the surface beside those of a deployment with push notifications. */
  readonly settings?: Partial<A2aDeps>;
  readonly budgets?: Partial<CallLimitSettings>;
  /** The Redis of the pods; one of its own without it. */
  readonly location?: RedisLocation;
  /** Called for each attempt at a push. */
  readonly onPush?: DeliverPushDeps['onAttempt'];
}

/** Opens the site. The bearer token `<tenant>/<user>` is that person's, `key/<tenant>` is a service key. */
export async function openA2aSite({
  settings = {},
  budgets = {},
  location,
  onPush = () => undefined,
}: A2aSiteOptions = {}): Promise<A2aSite> {
  const [redis, model] = await Promise.all([
    location === undefined ? startRedis() : undefined,
    startScriptedModel({ script: [line], delayMs: 1 }),
  ]);
  const stores = await openRedisPods(location ?? { kind: 'single', url: redis?.url ?? '' }, ROOMY);
  const agents = { helper: { tools: TOOLS }, speaker: { tools: TOOLS }, broken: { isBroken: true } };
  const running = [stores.backend, stores.second].map((backend, index) => {
    const { engine, turns } = podOn(backend, model, { agents, hasAnswerPage: true, pod: `pod-${index}` });
    const push = pushOn(backend, onPush);
    const dispatch = createDispatch({
      outbox: backend.outbox,
      kinds: [resumeRunKind(backend), ...a2aPushKinds(push)],
      onFault: (error) => process.stderr.write(`${String(error)}\n`),
    });
    const timer = setInterval(() => void dispatch.round().catch(() => undefined), DISPATCH_MS);
    return { backend, engine, turns, timer };
  });
  const servers = await Promise.all(running.map((pod) => serve(pod, settings, budgets)));
  return {
    pods: servers.map(({ pod }) => pod),
    async stop() {
      for (const { timer } of running) clearInterval(timer);
      for (const { server } of servers) {
        server.closeAllConnections();
        server.close();
      }
      await Promise.all(running.map(({ turns }) => turns.close()));
      await stores.close();
      await model.stop();
      await redis?.stop();
    },
  };
}

const PUSH_ENV = {
  NODE_ENV: 'test',
  PARLEY_RETENTION_SECONDS: 60,
  PARLEY_VAULT_KEYS: [`k:${randomBytes(32).toString('base64')}`],
} as unknown as Env;

function pushOn(backend: Backend, onAttempt: DeliverPushDeps['onAttempt']): DeliverPushDeps {
  const store = createPushStoreOf(PUSH_ENV, backend);
  if (store === undefined) throw new Error('no keys');
  return { ...backend, store, send: createPushSender({ allowLoopback: true }), onAttempt };
}

export type RunningPod = ReturnType<typeof podOn> & { readonly backend: Backend };

export async function serve(
  { backend, engine, turns }: Pick<RunningPod, 'backend' | 'engine' | 'turns'>,
  settings: Partial<A2aDeps>,
  budgets: Partial<CallLimitSettings>,
): Promise<{ readonly server: HttpServer; readonly pod: A2aPod }> {
  const limits = callLimitsOn(backend.limits, budgets);
  const surface = a2aRoutes({
    engine,
    turns,
    limits,
    records: backend.ownerRecords,
    version: '0.0.0',
    agents: [...AGENTS, { id: 'broken', title: 'Broken', description: 'Fails.', answers: 'user' }],
    origin: 'https://parley.example',
    hopsMax: 5,
    answerMs: 60_000,
    waitMs: 60_000,
    onFault: (error) => process.stderr.write(`${String(error)}\n`),
    authenticate,
    push: wirePush(PUSH_ENV, backend) as NonNullable<A2aDeps['push']>,
    ...settings,
  });
  const router = createRouter({
    surfaces: [surface],
    corsOrigins: [],
    serve: createServe({
      authenticate: async () => {
        throw unauthenticated();
      },
      limits,
      bodyBytesMax: BODY_BYTES_MAX,
      sse: { heartbeatMs: 100, slowReaderMs: 5_000, draining: new AbortController().signal },
      onDone: () => undefined,
      onFault: (error) => process.stderr.write(`${String(error)}\n`),
      onStream: () => undefined,
    }),
  });
  const server = createServer(router);
  const port = await listenOnFreePort(server);
  return { server, pod: { url: `http://127.0.0.1:${port}`, engine, backend } };
}

const authenticate: Authenticate = async ({ headers }: IncomingMessage) => {
  const [, tenant, userId] = /^Bearer ([^/]+)\/(.+)$/.exec(headers.authorization ?? '') ?? [];
  if (tenant === undefined || userId === undefined) throw unauthenticated();
  const expiresAtMs = Number.POSITIVE_INFINITY;
  return tenant === 'key'
    ? { caller: { kind: 'service', tenant: userId, keyId: 'bot', scopes: ['chat'] }, expiresAtMs }
    : { caller: { kind: 'user', tenant, userId }, expiresAtMs };
};

export interface Person extends Owner {
  readonly token: string;
}

export function newPerson(): Person {
  const { tenant, userId } = newOwner();
  return { tenant, userId, token: `${tenant}/${userId}` };
}

/** Bindings of the stock client. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'JSONRPC 0.3'] as const;
export type Binding = (typeof BINDINGS)[number];

/** A stock client that sends each request to a random pod. */
export async function openClient(
  site: Pick<A2aSite, 'pods'>,
  {
    binding = 'JSONRPC',
    agent = 'helper',
    token,
    user,
  }: { binding?: Binding; agent?: string; token: string; user?: string },
): Promise<Client> {
  const fetchImpl = fetchAny(site, token, user);
  const isLegacy = binding === 'JSONRPC 0.3';
  const options = { fetchImpl, ...(isLegacy && { legacyCompat: { enabled: true } }) };
  const [first] = site.pods;
  const resolver = new DefaultAgentCardResolver(options);
  const card = await resolver.resolve(`${first?.url}/run/a2a/${agent}/`);
  const version = isLegacy ? '0.3' : '1.0';
  const factory = new ClientFactory({
    transports:
      binding === 'HTTP+JSON' ? [new RestTransportFactory(options)] : [new JsonRpcTransportFactory(options)],
    cardResolver: resolver,
  });
  return factory.createFromAgentCard({
    ...card,
    supportedInterfaces: card.supportedInterfaces.filter(
      ({ protocolVersion }) => protocolVersion === version || (isLegacy && protocolVersion.startsWith('0.3')),
    ),
  });
}

export function fetchAny({ pods }: Pick<A2aSite, 'pods'>, token?: string, user?: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    if (user !== undefined) headers.set('parley-user', user);
    const { pathname, search } = new URL(String(input));
    const pod = pods[Math.floor(Math.random() * pods.length)];
    return fetch(`${pod?.url}${pathname}${search}`, { ...init, headers });
  };
}
