import { randomInt } from 'node:crypto';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Owner } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createLog } from '@parley/shared/observe/log';
import type { Backend } from '@parley/shared/ports/backend';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisVaultStore } from '@parley/shared/redis/vault/store';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { createVault, type Vault } from '@parley/shared/vault/vault';
import { onTestFinished } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { createOAuth2Connector } from '../../../services/api/src/accounts/connectors/oauth2.ts';
import type { AccountEvent } from '../../../services/api/src/accounts/events.ts';
import { sweepFlows } from '../../../services/api/src/accounts/flows/sweep.ts';
import type { AccountTargets, CredentialTarget } from '../../../services/api/src/accounts/targets.ts';
import type { Identity } from '../../../services/api/src/pages/identity/identity.ts';
import { createOidcIdentity } from '../../../services/api/src/pages/identity/oidc.ts';
import { createTypedIdentity } from '../../../services/api/src/pages/identity/typed.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../stand-ins/authorization-server/authorization-server.ts';
import { canary } from '../canary.ts';
import { engineOn } from '../engines/engines.ts';
import { ROOMY } from '../engines/settings.ts';
import { listenOnFreePort } from '../free-port.ts';
import { callLimitsOn } from '../http/call-limits.ts';
import { newKeys } from '../vault/stores.ts';
import { waitUntil } from '../wait-until.ts';
import { createPages, type PagesDeps } from './pages-server.ts';

export const ADA: Owner = { tenant: 'acme', userId: 'ada' };
export const TOKEN_SECRET = 'a secret of tests, and of nothing else';
export const SCOPES = ['issues:read', 'issues:write'];
const COMPANY_CLIENT = { clientId: 'parley-pages', clientSecret: canary('company-secret') };
const TRACKER_CLIENT = { clientId: 'parley', clientSecret: canary('tracker-secret') };

export interface WorldOptions {
  readonly redisUrl: string;
  /** `oidc` by default. */
  readonly identity?: 'oidc' | 'typed' | Identity;
  /** Over the tracker's connector, to make it odd. */
  readonly wrap?: (connector: Connector) => Connector;
  /** Other services, by tool id; made once the address of the pages is known. */
  readonly services?: (publicUrl: string) => Readonly<Record<string, Connector>>;
  readonly deps?: Partial<PagesDeps>;
  /** Over the vault of the pages, to make it odd. */
  readonly wrapVault?: (vault: Vault) => Vault;
}

/** One of two pods that serve the pages. */
interface Pod {
  readonly backend: Backend;
  readonly engine: Engine;
  readonly vault: Vault;
  readonly deps: PagesDeps;
  /** Resolves when all its connections work. */
  healthy(): Promise<unknown>;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * A company's sign-in, a tracker that its people have accounts at, and two pods on backends of their own behind one
 * address: each request goes to either. All of it ends with the test.
 */
export async function startWorld(options: WorldOptions) {
  let serve: RequestListener = () => undefined;
  const server = createServer((req, res) => serve(req, res));
  const publicUrl = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { identity: kind = 'oidc' } = options;
  const [company, tracker] = await Promise.all([
    kind === 'oidc' ? startCompany(publicUrl) : undefined,
    startTracker(publicUrl),
  ]);
  const events: AccountEvent[] = [];
  const lines: string[] = [];
  const log = createLog(
    { service: 'test', level: 'trace', pod: 'test' },
    { write: (line: string) => void lines.push(line) },
  );
  const keys = newKeys();
  let onNext: () => void = () => undefined;
  let revocations = 0;
  const targets = targetsOf(publicUrl, tracker, options, () => {
    revocations += 1;
  });
  const identity = identityOf(publicUrl, company, kind);
  const shared = {
    publicUrl,
    keys,
    identity,
    targets,
    notifyOrigins: [],
    brand: {},
    linksApprovals: true,
    proxyHops: 0,
    failuresMax: 30,
    postsMax: 120,
    onEvent(event: AccountEvent, requestId?: string) {
      events.push(event);
      onNext();
      onNext = () => undefined;
      log.info({ ...event, requestId }, 'connect');
    },
    ...options.deps,
  };
  const pods = [await openPod(options, shared), await openPod(options, shared)] as const;
  const handlers = pods.map(({ deps }) =>
    createPages(deps, {
      serviceKeys: [
        'acme:a-service-key',
        'acme/linker/ask+link:a-linking-key',
        'globex/other/link:another-linking-key',
      ],
      tokenSecret: TOKEN_SECRET,
      onFault: (error, at) => log.error({ err: error, ...at }, 'fault'),
    }),
  );
  const living = [...handlers.keys()];
  const serving = handlers.map(() => new Set<ServerResponse>());
  serve = (req, res) => {
    const at = living[randomInt(living.length)] ?? 0;
    serving[at]?.add(res);
    res.once('close', () => serving[at]?.delete(res));
    handlers[at]?.(req, res);
  };
  const [{ engine, vault, backend, deps }] = pods;

  return {
    publicUrl,
    /** Where people sign in; undefined where they do not. */
    company,
    tracker: { ...tracker, revocations: () => revocations },
    events,
    lines,
    /** Calls back once, at the next event. */
    onNext(listener: () => void) {
      onNext = listener;
    },
    engine,
    vault,
    backend,
    deps,
    log,
    /** The pods that now serve a request of this path, one for each request. */
    podsServing: (path: string) =>
      serving.flatMap((held, at) => [...held].flatMap(({ req }) => (req.url === path ? [at] : []))),
    /** Loses a pod: its connections break, and no request reaches it any more. */
    losePod(at: number) {
      living.splice(living.indexOf(at), 1);
      for (const res of serving[at] ?? []) res.destroy();
    },
    /** Resolves when both pods can reach the store. */
    healthy: () => Promise.all(pods.map((pod) => pod.healthy())),
    /** Asks a person to connect a service; `issues` is the tracker. */
    ask: (more: QuestionOptions = {}) => askToConnect(engine, more),
    /** Waits until the store's clock has passed a question's deadline. */
    expired: (id: string) =>
      waitUntil(
        async () => {
          await engine.expire(id);
          return (await backend.elicitations.read(id)).row?.status === 'expired';
        },
        { what: 'the deadline' },
      ),
    status: async (id: string) => (await backend.elicitations.read(id)).row?.status,
    held: (toolId = 'issues', owner = ADA) =>
      vault.read({ ...owner, toolId, connectorId: targets.find(toolId)?.connector.id ?? '' }),
    /** How many flows have a credential that is staged. */
    async staged() {
      let count = 0;
      for await (const _ of vault.staleFlows(0)) count += 1;
      return count;
    },
    sweep: (olderThanMs = 0, bindingMs?: number, signal?: AbortSignal) =>
      sweepFlows(
        {
          engine,
          vault,
          targets,
          publicUrl,
          elicitations: backend.elicitations,
          onEvent: shared.onEvent,
          onFault: (error) => {
            throw error;
          },
        },
        olderThanMs,
        bindingMs,
        signal,
      ),
  };
}

function startCompany(publicUrl: string): Promise<AuthorizationServer> {
  return endingServer({
    name: 'Company',
    users: ['ada', 'bob'],
    clients: [{ ...COMPANY_CLIENT, redirectUris: [`${publicUrl}/auth/signed-in`], firstParty: true }],
  });
}

function startTracker(publicUrl: string): Promise<AuthorizationServer> {
  return endingServer({
    name: 'Tracker',
    users: ['ada-at-tracker', 'bob-at-tracker'],
    scopes: SCOPES,
    clients: [{ ...TRACKER_CLIENT, redirectUris: [`${publicUrl}/auth/callback/tracker`] }],
  });
}

async function endingServer(options: Parameters<typeof startAuthorizationServer>[0]) {
  const server = await startAuthorizationServer(options);
  onTestFinished(() => server.close());
  return server;
}

function targetsOf(
  publicUrl: string,
  { issuer }: AuthorizationServer,
  { wrap = (connector) => connector, services = () => ({}) }: WorldOptions,
  onRevoked: () => void,
): AccountTargets {
  const issues = createOAuth2Connector({
    id: 'tracker',
    server: { issuer },
    ...TRACKER_CLIENT,
    scopes: SCOPES,
    redirectUri: `${publicUrl}/auth/callback/tracker`,
    allowLoopbackHttp: true,
  });
  const counting: Connector = {
    ...issues,
    async revoke(credential) {
      const result = await issues.revoke(credential);
      if (result === 'revoked') onRevoked();
      return result;
    },
  };
  const connectors: Readonly<Record<string, Connector>> = { issues: wrap(counting), ...services(publicUrl) };
  const find = (toolId: string): CredentialTarget | undefined => {
    const connector = Object.hasOwn(connectors, toolId) ? connectors[toolId] : undefined;
    return connector && { kind: 'credential', toolId, service: `Service ${toolId}`, connector };
  };
  return {
    find,
    credentials: () => Object.keys(connectors).flatMap((toolId) => find(toolId) ?? []),
    connector: (id) => Object.values(connectors).find((one) => one.id === id),
  };
}

function identityOf(
  publicUrl: string,
  company: AuthorizationServer | undefined,
  identity: 'oidc' | 'typed' | Identity,
): Identity {
  if (identity === 'typed') return createTypedIdentity(ADA.tenant);
  if (identity !== 'oidc') return identity;
  return createOidcIdentity({
    issuer: company?.issuer ?? '',
    ...COMPANY_CLIENT,
    redirectUri: `${publicUrl}/auth/signed-in`,
    userClaim: 'sub',
    tenants: [ADA.tenant],
    allowLoopbackHttp: true,
  });
}

type Shared = Omit<
  PagesDeps,
  'engine' | 'elicitations' | 'approvals' | 'store' | 'limits' | 'vault' | 'callLimits'
> & {
  readonly keys: KeyRing;
};

async function openPod(
  { redisUrl: url, wrapVault = (vault) => vault }: WorldOptions,
  shared: Shared,
): Promise<Pod> {
  const location = { kind: 'single', url } as const;
  const backend = createRedisBackend({ location, settings: ROOMY, timerQueues: 1 });
  const redis = connectCommands(location);
  onTestFinished(async () => {
    redis.disconnect();
    await backend.close();
  });
  const healthy = () =>
    waitUntil(
      async () => {
        const { commands, subscription } = await backend.health();
        return commands && subscription && (await redis.ping()) === 'PONG';
      },
      { what: 'the backend' },
    );
  await healthy();
  const engine = engineOn(backend, { settings: { connectBaseUrl: `${shared.publicUrl}/auth/connect/` } });
  const vault = createVault({ store: createRedisVaultStore(redis), keys: shared.keys });
  const { elicitations, approvals, pages: store, limits } = backend;
  const callLimits = callLimitsOn(limits, { userStreams: 5, serviceCalls: 1000 });
  return {
    backend,
    engine,
    vault,
    deps: { engine, elicitations, approvals, store, limits, vault: wrapVault(vault), callLimits, ...shared },
    healthy,
  };
}

export interface QuestionOptions {
  readonly toolId?: string;
  readonly owner?: Owner;
  readonly timeoutSeconds?: number;
  /** Null for a question that names no agent. */
  readonly agent?: string | null;
  /** Scopes that the question asks for. */
  readonly requiredScope?: string;
}

async function askToConnect(
  engine: Engine,
  { toolId = 'issues', owner = ADA, timeoutSeconds = 600, agent = 'Helper', requiredScope }: QuestionOptions,
) {
  const asker = { ...(agent !== null && { agent }), ...(requiredScope !== undefined && { requiredScope }) };
  const context = { trigger: 'credential_required', toolId, toolName: `Service ${toolId}`, ...asker };
  const { row } = await engine.ask({
    tenant: owner.tenant,
    input: { userId: owner.userId, mode: 'url', message: 'Please connect.', context, timeoutSeconds },
  });
  return { id: row.id, url: row.definition.url ?? '', path: `/auth/connect/${row.id}` };
}
