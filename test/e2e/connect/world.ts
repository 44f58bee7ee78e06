import { randomBytes, randomInt } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../stand-ins/authorization-server/authorization-server.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { type EchoTools, startEchoTools } from '../../../stand-ins/issue-tracker/echo.ts';
import type { Verify } from '../../../stand-ins/issue-tracker/gate.ts';
import { type IssueTracker, startIssueTracker } from '../../../stand-ins/issue-tracker/issue-tracker.ts';
import { type ScriptedModel, startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { canary } from '../../harness/canary.ts';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import { createRoundRobin } from '../../harness/http/round-robin.ts';
import type { Pod } from '../../harness/processes/processes.ts';
import type { RedisServer } from '../../harness/redis/redis-server.ts';
import { PARLEY_PASSWORD, shippedUsers } from '../../harness/redis/shipped-users.ts';
import { openSite } from '../../harness/site/site.ts';
import { ACCOUNT, agentsFile, line } from './agents.ts';

/** Names of all people who can sign in: `p0`, `p1`, … */
const PEOPLE = 300;
const SCOPES = ['issues:read', 'issues:write'];
const PODS = ['pod-1', 'pod-2', 'pod-3'];
/** What stands at the top of the hosted pages. */
export const BRAND = { title: 'Example Corporation', logoUrl: 'https://img.example/logo.svg' };

export interface WorldPod extends Pod {
  readonly name: string;
  readonly metricsUrl: string;
}

/** A deployment with its neighbours. */
export interface World {
  /** Where people and browsers reach it. */
  readonly url: string;
  readonly secrets: ReturnType<typeof newSecrets>;
  readonly pods: readonly WorldPod[];
  readonly redis: RedisServer;
  readonly accounts: AuthorizationServer;
  readonly tracker: IssueTracker;
  readonly notes: IssueTracker;
  readonly echo: EchoTools;
  readonly model: ScriptedModel;
  /** Telemetry requests received so far. */
  readonly telemetry: readonly string[];
  /** Makes the tracker refuse an access token, as when it has expired. */
  endToken(accessToken: string): void;
  /** Name of a person without any activity yet. */
  newName(): string;
  stop(): Promise<void>;
}

export interface WorldOptions {
  /** Further settings of the pods, for a deployment that browsers reach at this address. */
  readonly more?: (url: string) => Readonly<Record<string, string>>;
  /** True: the pods connect to Redis as the user of `infra/redis/users.acl`. */
  readonly hasUsers?: boolean;
}

/** Secrets of the deployment; each occurs nowhere else. */
function newSecrets() {
  return {
    signIn: canary('sign-in-client'),
    tracker: canary('tracker-client'),
    model: canary('model-key'),
    project: canary('project-header'),
    apiKey: canary('api-key'),
    service: canary('service-key'),
    jwt: canary('jwt-secret'),
    vault: randomBytes(32).toString('base64'),
  };
}

/**
 * Three pods behind a load balancer that picks one at random for every request, with real neighbours: accounts that sign
 * people in and give tokens for the tracker, a tracker that asks them about each token, a service that takes keys.
 */
export async function startWorld({ more, hasUsers = false }: WorldOptions = {}): Promise<World> {
  const seed = randomInt(2 ** 32);
  process.stdout.write(`load balancer: random pods by the seed ${seed}\n`);
  const secrets = newSecrets();
  const folder = mkdtempSync(join(tmpdir(), 'parley-connect-'));
  const [site, proxy, collector, keyCheck, port] = await Promise.all([
    openSite(hasUsers ? { args: await shippedUsers(folder) } : {}),
    createRoundRobin({ targets: [], pick: 'random', seed }),
    startCollector(),
    startKeyCheck(secrets.apiKey),
    freePort(),
  ]);
  const issuer = `http://127.0.0.1:${port}`;
  const api = { clientId: 'tracker-api', clientSecret: canary('tracker-api') };
  const ended = new Set<string>();
  const people = Array.from({ length: PEOPLE }, (_, index) => `p${index}`);
  const [tracker, notes, echo, model]: [IssueTracker, IssueTracker, EchoTools, ScriptedModel] =
    await Promise.all([
      startIssueTracker({
        verify: (token): ReturnType<Verify> =>
          ended.has(token)
            ? undefined
            : createTokenVerifier({ issuer, ...api, resource: tracker.url })(token),
        authorizationServer: issuer,
        scopes: SCOPES,
      }),
      startIssueTracker({
        verify: (token) => (token === secrets.apiKey ? { subject: 'notes', scopes: [] } : undefined),
      }),
      startEchoTools({ headers: { authorization: `Bearer ${secrets.project}` } }),
      startScriptedModel({ script: [line], apiKey: secrets.model }),
    ]);
  const accounts = await startAuthorizationServer({
    name: 'Acme',
    port,
    users: people,
    scopes: SCOPES,
    resources: [tracker.url],
    clients: [
      {
        clientId: 'parley-sign-in',
        clientSecret: secrets.signIn,
        redirectUris: [`${proxy.url}/auth/signed-in`],
        firstParty: true,
      },
      {
        clientId: 'parley',
        clientSecret: secrets.tracker,
        redirectUris: [`${proxy.url}/auth/callback/${ACCOUNT}`],
      },
      { ...api, redirectUris: [] },
    ],
  });
  const config = join(folder, 'agents.yaml');
  const at = { model: model.url, issuer, tracker: tracker.url, notes: notes.url, keyCheck: keyCheck.url };
  writeFileSync(config, agentsFile({ ...at, echo: echo.url }));
  const env = {
    PARLEY_CONFIG: config,
    // A pod on a busy machine must not be mistaken for a dead one.
    PARLEY_LEASE_MS: '10000',
    PARLEY_PUBLIC_URL: proxy.url,
    PARLEY_CONNECT_IDENTITY: 'oidc',
    PARLEY_TITLE: BRAND.title,
    PARLEY_LOGO_URL: BRAND.logoUrl,
    PARLEY_CONNECT_PROXY_HOPS: '1',
    PARLEY_CONNECT_OIDC_ISSUER: issuer,
    PARLEY_CONNECT_OIDC_CLIENT_ID: 'parley-sign-in',
    PARLEY_CONNECT_OIDC_CLIENT_SECRET: secrets.signIn,
    PARLEY_VAULT_KEYS: `one:${secrets.vault}`,
    PARLEY_JWT_SECRET: secrets.jwt,
    PARLEY_API_KEYS: `default:${secrets.service}`,
    PARLEY_LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    MODEL_KEY: secrets.model,
    TRACKER_SECRET: secrets.tracker,
    ECHO_AUTHORIZATION: `Bearer ${secrets.project}`,
    ...(hasUsers && { PARLEY_REDIS_USERNAME: 'parley', PARLEY_REDIS_PASSWORD: PARLEY_PASSWORD }),
    ...more?.(proxy.url),
  };
  const startPod = async (name: string): Promise<WorldPod> => {
    const metricsPort = await freePort();
    const pod = await site.pod(
      { ...env, PARLEY_POD: name, PARLEY_METRICS_PORT: String(metricsPort) },
      { name },
    );
    return { ...pod, name, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
  };
  const pods = await Promise.all(PODS.map(startPod));
  await proxy.setTargets(pods.map(({ name, url }) => ({ name, url })));
  let next = 0;
  return {
    url: proxy.url,
    secrets,
    pods,
    redis: site.redis,
    accounts,
    tracker,
    notes,
    echo,
    model,
    telemetry: collector.received,
    endToken: (accessToken) => void ended.add(accessToken),
    newName() {
      next += 1;
      return people[next - 1] ?? '';
    },
    async stop() {
      await proxy.close();
      await site.stop();
      await Promise.all([accounts.close(), tracker.stop(), notes.stop(), echo.stop(), model.stop()]);
      await Promise.all([collector.stop(), keyCheck.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Receives telemetry. */
async function startCollector() {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push(`${request.url} ${Buffer.concat(chunks).toString('latin1')}`);
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  return { ...(await serve(server)), received };
}

/** A service that accepts one API key. */
function startKeyCheck(key: string) {
  return serve(
    createServer((request, response) => {
      response.writeHead(request.headers.authorization === `Bearer ${key}` ? 200 : 401).end();
    }),
  );
}

async function serve(server: ReturnType<typeof createServer>) {
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
