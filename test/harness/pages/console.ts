import { randomInt } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createLog } from '@parley/shared/observe/log';
import { createRedisBackend } from '@parley/shared/redis/backend';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { onTestFinished } from 'vitest';
import type { AccountEvent } from '../../../services/api/src/accounts/events.ts';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { NO_DRAIN } from '../../../services/api/src/http/life/drain.ts';
import { createHeartbeats } from '../../../services/api/src/http/life/heartbeats.ts';
import type { OperatorAct } from '../../../services/api/src/http/proof/acts.ts';
import { createServe } from '../../../services/api/src/http/serve.ts';
import { answerLinkRoutes } from '../../../services/api/src/pages/answer/link-routes.ts';
import { createAnswerLinks } from '../../../services/api/src/pages/answer/links.ts';
import { createOperatorSessions } from '../../../services/api/src/pages/console/admission.ts';
import {
  createOidcOperators,
  createTypedOperators,
  type OperatorIdentity,
} from '../../../services/api/src/pages/console/identity.ts';
import { createConsoleParts, type SessionChange } from '../../../services/api/src/pages/console/parts.ts';
import { consoleRoutes } from '../../../services/api/src/pages/console/routes.ts';
import { adminRoutes } from '../../../services/api/src/surfaces/admin/routes.ts';
import { userRoutes } from '../../../services/api/src/surfaces/rest/users.ts';
import { createActLog } from '../../../services/api/src/wiring/acts.ts';
import { createApp } from '../../../services/api/src/wiring/app.ts';
import { wireEraseUser } from '../../../services/api/src/wiring/erase-user.ts';
import { startAuthorizationServer } from '../../../stand-ins/authorization-server/authorization-server.ts';
import { dispatchOn, engineOn } from '../engines/engines.ts';
import { ROOMY } from '../engines/settings.ts';
import { listenOnFreePort } from '../free-port.ts';
import { adminDepsOn } from '../http/admin.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { newKeys } from '../vault/stores.ts';
import { waitUntil } from '../wait-until.ts';
import { createTestBrowser, type TestBrowser } from './browser.ts';

const CLIENT = { clientId: 'parley', clientSecret: 'a secret of tests' };
const TENANTS = ['acme', 'globex'];
const KEY = 'a-key-of-an-operator';

export interface ConsoleWorldOptions {
  readonly redisUrl: string;
  /** What the provider says of the roles of people, by name. They type their names when it is absent. */
  readonly roles?: Readonly<Record<string, unknown>>;
  readonly idleMs?: number;
  readonly sessionMs?: number;
  readonly operatorCalls?: number;
  readonly failuresMax?: number;
  readonly hasOneTenant?: boolean;
}

/** What both pods would log. */
interface NotedByPods {
  readonly sessions: SessionChange[];
  readonly events: AccountEvent[];
  readonly acts: (OperatorAct & { readonly operator?: string })[];
}

export type ConsoleWorld = Awaited<ReturnType<typeof startConsoleWorld>>;

/** The console and the admin API on two pods behind one address: each request goes to either. All of it ends with the test. */
export async function startConsoleWorld(options: ConsoleWorldOptions) {
  let serve: RequestListener = () => undefined;
  const server = createServer((req, res) => serve(req, res));
  const publicUrl = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const noted: NotedByPods = { sessions: [], events: [], acts: [] };
  const identity = await identityOf(publicUrl, options.roles);
  const shared = { ...options, publicUrl, identity, keys: newKeys(), noted };
  const pods = [await openPod(shared), await openPod(shared)] as const;
  serve = (req, res) => pods[randomInt(pods.length)]?.app(req, res);
  const [{ engine, backend }] = pods;
  return { publicUrl, engine, backend, ...noted, bearer: { authorization: `Bearer ${KEY}` } };
}

async function identityOf(publicUrl: string, roles: ConsoleWorldOptions['roles']): Promise<OperatorIdentity> {
  if (roles === undefined) return createTypedOperators(TENANTS);
  const redirectUri = `${publicUrl}/console/signed-in`;
  const company = await startAuthorizationServer({
    name: 'Company',
    users: Object.keys(roles),
    roles,
    clients: [{ ...CLIENT, redirectUris: [redirectUri], firstParty: true }],
  });
  onTestFinished(() => company.close());
  return createOidcOperators({
    issuer: company.issuer,
    ...CLIENT,
    redirectUri,
    userClaim: 'sub',
    rolesClaim: 'roles',
    tenants: TENANTS,
    allowLoopbackHttp: true,
  });
}

interface SharedByPods extends ConsoleWorldOptions {
  readonly publicUrl: string;
  readonly identity: OperatorIdentity;
  readonly keys: KeyRing;
  readonly noted: NotedByPods;
}

async function openPod({ publicUrl, identity, keys, noted, ...options }: SharedByPods) {
  const location = { kind: 'single', url: options.redisUrl } as const;
  const backend = createRedisBackend({ location, settings: ROOMY, timerQueues: 1 });
  onTestFinished(() => backend.close());
  const isReady = async () => {
    const { commands, subscription } = await backend.health();
    return commands && subscription;
  };
  await waitUntil(isReady, { what: 'the backend' });
  const engine = engineOn(backend);
  const {
    operatorCalls = 1_000,
    idleMs = 60_000,
    sessionMs = 600_000,
    failuresMax = 30,
    hasOneTenant = false,
  } = options;
  const limits = callLimitsOn(backend.limits, { operatorCalls });
  const parts = createConsoleParts({
    publicUrl,
    identity,
    keys,
    files: { page: '<!doctype html><title>Console</title>', assets: new Map() },
    store: backend.pages,
    limits: backend.limits,
    notifyOrigins: [],
    brand: { title: 'Acme agents' },
    proxyHops: 0,
    failuresMax,
    postsMax: 120,
    idleMs,
    sessionMs,
    onEvent: (event) => void noted.events.push(event),
    onSession: (change) => void noted.sessions.push(change),
  });
  const log = actLogOf(noted);
  const onAct = createActLog(log);
  const admin = adminRoutes(
    adminDepsOn(backend, { engine, streamsOf: limits.streamsOf, hasOneTenant, onAct }),
  );
  const answerLinks = answerLinkRoutes({
    engine,
    pages: { publicUrl, links: createAnswerLinks(backend.pages) },
    linksApprovals: true,
    onEvent: parts.onEvent,
    onAct,
  });
  const eraseUser = wireEraseUser({
    backend,
    engine,
    log,
    deliveries: dispatchOn(backend),
    deliveryKinds: [],
    disconnectAll: undefined,
    unlink: undefined,
  });
  const serve = createServe({
    authenticate: createAuthenticate({
      serviceKeys: [{ tenant: 'acme', name: 'desk', scopes: ['operate'], secret: KEY }],
      verify: undefined,
    }),
    operators: createOperatorSessions(parts),
    limits,
    bodyBytesMax: 262_144,
    messagesBytesMax: 4_194_304,
    sse: { heartbeats: createHeartbeats(15_000), slowReaderMs: 30_000, drain: NO_DRAIN },
    onDone: () => undefined,
    onFault(error) {
      throw error;
    },
    onStream: () => undefined,
  });
  const surfaces = [admin, answerLinks, { routes: userRoutes(eraseUser) }, consoleRoutes(parts)];
  return {
    app: createApp({ surfaces, serve, corsOrigins: ['https://page.example'], version: 'test' }),
    engine,
    backend,
  };
}

/** The log of a pod, of which the acts of operators are noted. */
function actLogOf({ acts }: NotedByPods) {
  return createLog(
    { service: 'test', level: 'info', pod: 'test' },
    {
      write(line: string) {
        if (line.includes('operator acted')) acts.push(JSON.parse(line));
      },
    },
  );
}

/** What `GET /console/session` says. */
export interface SaidSession {
  readonly name: string;
  readonly tenants: readonly { readonly tenant: string; readonly roles: readonly string[] }[];
  readonly csrf: string;
  readonly title: string;
}

/** An operator's browser, signed in, and its calls as the page of the console makes them. */
export async function signedInOperator(
  world: Pick<ConsoleWorld, 'publicUrl'>,
  user: string,
  to = '/console',
) {
  const browser = createTestBrowser(world);
  const shown = await browser.enter(`/console/sign-in?${new URLSearchParams({ to })}`, user);
  const calls = callsOf(world, browser);
  const { json } = await calls.send('GET', '/console/session');
  return { shown, browser, session: json as SaidSession, ...calls };
}

/** What a page in this browser can send. */
export function callsOf({ publicUrl }: Pick<ConsoleWorld, 'publicUrl'>, { jar }: Pick<TestBrowser, 'jar'>) {
  return {
    async send(method: string, path: string, headers: Readonly<Record<string, string>> = {}) {
      const cookie = jar.header(publicUrl);
      const own = { ...(cookie !== '' && { cookie }), 'sec-fetch-site': 'same-origin' };
      const response = await fetch(publicUrl + path, { method, headers: { ...own, ...headers } });
      jar.store(publicUrl, response.headers.getSetCookie());
      const text = await response.text();
      const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
      return { status: response.status, headers: response.headers, json };
    },
  };
}
