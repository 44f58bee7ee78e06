/** Two pods in this process with the A2A surface, and stock clients that reach a random one with each request. */
import { randomBytes } from 'node:crypto';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { Env } from '@parley/shared/config/env';
import { a2aPushKinds } from '@parley/shared/delivery/a2a-push/deliver';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import { createReceivers } from '@parley/shared/delivery/receivers';
import type { Backend } from '@parley/shared/ports/backend';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { resumeRunKind } from '@parley/shared/runs/resume';
import { createPushSender, createPushStoreOf } from '@parley/shared/runtime/a2a-push';
import type { Tool } from '../../../services/api/src/agents/run/tool.ts';
import type { CallLimitSettings } from '../../../services/api/src/http/limits/call-limits.ts';
import type { A2aDeps } from '../../../services/api/src/surfaces/a2a/deps.ts';
import { a2aRoutes } from '../../../services/api/src/surfaces/a2a/routes.ts';
import { wirePush } from '../../../services/api/src/wiring/a2a.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { pickFetch } from '../http/pick-fetch.ts';
import { asking, openServedPods, pageTool, type ServedPods, shortTool } from '../protocols/pods.ts';
import { authenticateByName, writeFault } from '../protocols/served.ts';
import { elicit } from '../turns/setup.ts';

type Ask = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
const ASKS: Readonly<Record<string, Ask>> = {
  twice: { name: 'elicit', arguments: { kind: 'text', message: 'Which colour first?' } },
  text: { name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } },
  trip: { name: 'trip', arguments: {} },
  page: { name: 'page', arguments: {} },
  short: { name: 'short', arguments: {} },
};

/**
 * The agent asks what the words of its task name, in one step; `twice` asks in two steps. Then it repeats what it heard.
 */
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

const TRIP = {
  type: 'object',
  properties: { seat: { type: 'string', enum: ['window', 'aisle'] }, bags: { type: 'integer', minimum: 0 } },
  required: ['seat'],
} as const;

const TOOLS: Tool[] = [
  elicit,
  asking('trip', { mode: 'form', message: 'How do you travel?', requestedSchema: TRIP, timeoutSeconds: 600 }),
  pageTool,
  shortTool,
  {
    name: 'slow',
    description: 'Works until it is stopped.',
    inputSchema: { type: 'object' },
    call: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  },
];

const PUSH_ENV = {
  NODE_ENV: 'test',
  PARLEY_RETENTION_SECONDS: 60,
  PARLEY_VAULT_KEYS: [`k:${randomBytes(32).toString('base64')}`],
} as unknown as Env;

/** Resumes turns, and sends pushes. */
function dispatchOf(backend: Backend) {
  const store = createPushStoreOf(PUSH_ENV, backend);
  if (store === undefined) throw new Error('no keys');
  const send = createPushSender({ allowLoopback: true });
  const receivers = createReceivers();
  const pushes = a2aPushKinds({ ...backend, store, send, receivers, onAttempt: () => undefined });
  return createDispatch({
    outbox: backend.outbox,
    kinds: [resumeRunKind(backend), ...pushes],
    onFault: writeFault,
  });
}

export type A2aSite = ServedPods;

export interface A2aSiteOptions {
  /** Settings of the surface beside those of a deployment with push notifications. */
  readonly settings?: Partial<A2aDeps>;
  readonly budgets?: Partial<CallLimitSettings>;
  /** The Redis of the pods; one of its own without it. */
  readonly location?: RedisLocation;
}

/** How a pod serves A2A. */
export const a2aSurface = (settings: Partial<A2aDeps>): Parameters<typeof openServedPods>[0]['surfaceOf'] => {
  return ({ backend, engine, turns }, limits) =>
    a2aRoutes({
      engine,
      turns,
      limits,
      records: backend.ownerRecords.a2a,
      version: '0.0.0',
      agents: [
        { id: 'helper', title: 'Helper', description: 'Helps.', answers: 'user' },
        { id: 'speaker', title: 'Speaker', description: 'Takes answers of callers.', answers: 'caller' },
        { id: 'broken', title: 'Broken', description: 'Fails.', answers: 'user' },
      ],
      origin: 'https://parley.example',
      hopsMax: 5,
      answerMs: 60_000,
      waitMs: 60_000,
      onFault: writeFault,
      authenticate: authenticateByName,
      push: wirePush(PUSH_ENV, backend) as NonNullable<A2aDeps['push']>,
      ...settings,
    });
};

/** Opens the site. The bearer tokens are those of `authenticateByName`. */
export function openA2aSite({
  settings = {},
  budgets = {},
  location,
}: A2aSiteOptions = {}): Promise<A2aSite> {
  return openServedPods({
    line,
    pod: { agents: { helper: { tools: TOOLS }, speaker: { tools: TOOLS }, broken: { isBroken: true } } },
    surfaceOf: a2aSurface(settings),
    dispatchOf,
    heartbeatMs: 100,
    budgets,
    location,
  });
}

/** Bindings of the stock client. */
export const BINDINGS = ['JSONRPC', 'HTTP+JSON', 'JSONRPC 0.3'] as const;
export type Binding = (typeof BINDINGS)[number];

/** A `fetch` that adds who calls. */
export function fetchAs(through: typeof fetch, token?: string, user?: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    if (user !== undefined) headers.set('parley-user', user);
    return through(input, { ...init, headers });
  };
}

/** A `fetch` that sends each request to a random pod. */
export const fetchAny = (
  { pods }: { readonly pods: readonly { readonly url: string }[] },
  token?: string,
  user?: string,
) => fetchAs(pickFetch(pods.map(({ url }) => url)), token, user);

/** The stock client for the agent whose card lies below `url`. */
export async function clientAt(url: string, fetchImpl: typeof fetch, binding: Binding): Promise<Client> {
  const isLegacy = binding === 'JSONRPC 0.3';
  const options = { fetchImpl, ...(isLegacy && { legacyCompat: { enabled: true } }) };
  const cardResolver = new DefaultAgentCardResolver(options);
  const card = await cardResolver.resolve(url);
  const transport =
    binding === 'HTTP+JSON' ? new RestTransportFactory(options) : new JsonRpcTransportFactory(options);
  return new ClientFactory({ transports: [transport], cardResolver }).createFromAgentCard({
    ...card,
    supportedInterfaces: card.supportedInterfaces.filter(({ protocolVersion }) =>
      isLegacy ? protocolVersion.startsWith('0.3') : protocolVersion === '1.0',
    ),
  });
}

/** A stock client that sends each request to a random pod. */
export const openClient = (
  site: { readonly pods: readonly { readonly url: string }[] },
  { binding = 'JSONRPC', agent = 'helper', token }: { binding?: Binding; agent?: string; token: string },
) => clientAt(`${site.pods[0]?.url}/run/a2a/${agent}/`, fetchAny(site, token), binding);
