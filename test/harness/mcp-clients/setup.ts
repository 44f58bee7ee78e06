/** Two pods in this process, on one Redis, each with the MCP endpoint. A request goes to any of them. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { pagesOf } from '@parley/sdk/elicit';
import type { Owner } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Backend } from '@parley/shared/ports/backend';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import { startScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { NO_OFFERING } from '../../../services/api/src/agents/tools/mcp-offer.ts';
import type { Tool } from '../../../services/api/src/agents/tools/tool.ts';
import type { Authenticate } from '../../../services/api/src/http/auth.ts';
import type { CallLimitSettings } from '../../../services/api/src/http/limits/call-limits.ts';
import { createRouter } from '../../../services/api/src/http/router.ts';
import { createServe } from '../../../services/api/src/http/serve.ts';
import { unauthenticated } from '../../../services/api/src/http/token.ts';
import { type McpRouteDeps, mcpRoutes } from '../../../services/api/src/surfaces/mcp/routes.ts';
import type { TurnsDeps } from '../../../services/api/src/turns/turns.ts';
import { KINDS, type KindCase } from '../cli/kinds.ts';
import { dispatchOn } from '../engines/engines.ts';
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
export const ANSWER_PAGE_URL = 'https://parley.example/auth/answer/';
/** How long a form stays unanswered before its page is named. */
export const UNANSWERED_MS = 300;
const STATE_KEY = randomBytes(32);

export interface McpPod {
  readonly url: string;
  readonly engine: Engine;
  readonly backend: Backend;
  /** Ends the connections to this pod without a word, as its death would. */
  cut(): void;
  /** Makes the pod drain. */
  drain(): void;
}

export interface McpSite {
  readonly pods: readonly McpPod[];
  /** How often each task was done, by the message of its call. */
  readonly done: Map<string, number>;
  stop(): Promise<void>;
}

/**
 * The agent does what the words of its task say, in one step: `text` and `number` ask by a form, `page` by a url, `work`
 * does the task once, `kind-3` asks what the table of kinds has there. Then it repeats what it heard.
 */
function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard: ${results.map(({ text }) => text).join(' ')}` };
  const [words = ''] = userText.split(':');
  const calls = words.split(' ').flatMap((word) => {
    if (word === 'text') return [{ name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } }];
    if (word === 'page') return [{ name: 'page', arguments: {} }];
    if (word === 'short') return [{ name: 'short', arguments: {} }];
    const at = /^kind-(\d+)$/.exec(word)?.[1];
    if (at !== undefined) return [{ name: 'kind', arguments: { at: Number(at) } }];
    if (word === 'work') return [{ name: 'work', arguments: { task: userText } }];
    return [];
  });
  return calls.length === 0 ? { text: `Hello: ${userText}` } : { text: 'One moment.', calls };
}

const asking = (name: string, question: Parameters<Parameters<Tool['call']>[0]['ask']>[1]): Tool => ({
  name,
  description: 'Asks.',
  inputSchema: { type: 'object' },
  async call(call) {
    const { status } = await call.ask(0, question);
    return { type: 'returned', output: status };
  },
});

/** Asks for one kind of the table that a terminal and the widget answer, too; returns the answer in the asker's terms. */
const kind: Tool = {
  name: 'kind',
  description: 'Asks for one kind.',
  inputSchema: { type: 'object' },
  async call(call) {
    const { ask } = KINDS[(call.input as { readonly at: number }).at] as KindCase;
    const [page] = pagesOf(ask) ?? [];
    const asked = { message: ask.message, timeoutSeconds: 600 };
    const outcome = await call.ask(
      0,
      ask.kind === 'url'
        ? { ...asked, mode: 'url', url: ask.url }
        : { ...asked, mode: 'form', requestedSchema: page?.schema },
    );
    const reading = await page?.read(outcome.content);
    return {
      type: 'returned',
      output: { status: outcome.status, ...(reading?.ok === true && reading.values) },
    };
  },
};

function toolsOf(done: Map<string, number>): Tool[] {
  const work: Tool = {
    name: 'work',
    description: 'Does a task.',
    inputSchema: { type: 'object' },
    async call(call) {
      await call.beforeDispatch();
      const { task } = call.input as { readonly task: string };
      done.set(task, (done.get(task) ?? 0) + 1);
      return { type: 'returned', output: 'done' };
    },
  };
  const form = { requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } } as const;
  return [
    elicit,
    work,
    kind,
    asking('page', {
      mode: 'url',
      message: 'Open it.',
      url: PAGE_URL,
      completion: 'server',
      timeoutSeconds: 600,
    }),
    asking('short', { mode: 'form', message: 'Quick?', ...form, timeoutSeconds: 1 }),
  ];
}

/** Opens the site. The bearer token `<tenant>/<user>` is that person's; the header `x-expires-at` says until when. */
export async function openMcpSite(
  settings: Partial<McpRouteDeps> = {},
  budgets: Partial<CallLimitSettings> = {},
): Promise<McpSite> {
  const [redis, model] = await Promise.all([
    startRedis(),
    startScriptedModel({ script: [line], delayMs: 1 }),
  ]);
  const stores = await openRedisPods({ kind: 'single', url: redis.url }, ROOMY);
  const done = new Map<string, number>();
  const agents = { helper: { tools: toolsOf(done) } };
  const running = [stores.backend, stores.second].map((backend, index) => {
    const { engine, turns } = podOn(backend, model, {
      agents,
      offering: OFFERING,
      hasAnswerPage: true,
      pod: `pod-${index}`,
    });
    const dispatch = dispatchOn(backend);
    const timer = setInterval(() => void dispatch.round().catch(() => undefined), DISPATCH_MS);
    return { backend, engine, turns, timer };
  });
  const servers = await Promise.all(running.map((pod) => serve(pod, settings, budgets)));
  return {
    pods: servers.map(({ pod }) => pod),
    done,
    async stop() {
      for (const { timer } of running) clearInterval(timer);
      for (const { server } of servers) {
        server.closeAllConnections();
        server.close();
      }
      await Promise.all(running.map(({ turns }) => turns.close()));
      await stores.close();
      await model.stop();
      await redis.stop();
    },
  };
}

const HELPER: Awaited<ReturnType<TurnsDeps['offering']['list']>>[number] = {
  name: 'helper',
  title: 'Helper',
  description: 'Helps.',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  target: { type: 'agent', agent: 'helper' },
};
const OFFERING: TurnsDeps['offering'] = {
  ...NO_OFFERING,
  list: async () => [HELPER],
  find: async (_caller, _principal, name) => (name === HELPER.name ? HELPER.target : undefined),
};

type RunningPod = ReturnType<typeof podOn> & { readonly backend: Backend };

async function serve(
  { backend, engine, turns }: Pick<RunningPod, 'backend' | 'engine' | 'turns'>,
  settings: Partial<McpRouteDeps>,
  budgets: Partial<CallLimitSettings>,
): Promise<{ readonly server: HttpServer; readonly pod: McpPod }> {
  const draining = new AbortController();
  const limits = callLimitsOn(backend.limits, budgets);
  const surface = mcpRoutes({
    engine,
    turns,
    limits,
    records: backend.ownerRecords,
    version: '0.0.0',
    stateKey: STATE_KEY,
    sessionMs: 60_000,
    callMs: 60_000,
    roundMs: 2_000,
    progressMs: 100,
    answerPage: { baseUrl: ANSWER_PAGE_URL, afterMs: UNANSWERED_MS },
    onFault: () => undefined,
    authenticate,
    resource: { url: 'https://parley.example/run/v1/mcp', issuer: 'https://issuer.example' },
    origins: new Set(['https://page.example']),
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
      sse: { heartbeatMs: 1_000, slowReaderMs: 5_000, draining: draining.signal },
      onDone: () => undefined,
      onFault: (error) => process.stderr.write(`${String(error)}\n`),
      onStream: () => undefined,
    }),
  });
  const server = createServer(router);
  const port = await listenOnFreePort(server);
  const pod: McpPod = {
    url: `http://127.0.0.1:${port}`,
    engine,
    backend,
    cut: () => server.closeAllConnections(),
    drain: () => draining.abort(),
  };
  return { server, pod };
}

const authenticate: Authenticate = async ({ headers }: IncomingMessage) => {
  const [, tenant, userId] = /^Bearer ([^/]+)\/(.+)$/.exec(headers.authorization ?? '') ?? [];
  if (tenant === undefined || userId === undefined) throw unauthenticated();
  const expiresAtMs = Number(headers['x-expires-at'] ?? Number.POSITIVE_INFINITY);
  return { caller: { kind: 'user', tenant, userId }, expiresAtMs };
};

export interface Person extends Owner {
  readonly token: string;
}

export function newPerson(): Person {
  const { tenant, userId } = newOwner();
  return { tenant, userId, token: `${tenant}/${userId}` };
}
