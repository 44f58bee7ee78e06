import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../stand-ins/authorization-server/authorization-server.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { type EchoTools, startEchoTools } from '../../../stand-ins/issue-tracker/echo.ts';
import { type IssueTracker, startIssueTracker } from '../../../stand-ins/issue-tracker/issue-tracker.ts';
import { type ScriptedModel, startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { freePort } from '../../harness/free-port.ts';
import { type ManagedProcess, type Pod, startPod, startWorker } from '../../harness/processes/processes.ts';
import { REPORTS_MEMORY } from '../../harness/processes/resources.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { type SlackStandIn, startSlack } from '../../harness/slack/slack.ts';
import { agentsFile, LATER, line } from './agents.ts';
import { type Issuer, startIssuer } from './issuer.ts';
import {
  ACCOUNT,
  AUDIENCE,
  ENDING_KEY,
  MODEL_PAUSE_MS,
  SERVICE_KEY,
  SLACK_APP,
  TENANT,
  TOKENS_A_DAY,
  TOOL_PAUSE_MS,
} from './settings.ts';
import { openSlowDoor } from './slow-door.ts';
import { DAY, HOUR, SECOND } from './times.ts';

/** A deployment whose processes share the clock of this one. */
export interface Stage {
  readonly redis: RedisServer;
  readonly pods: readonly Pod[];
  readonly worker: ManagedProcess;
  readonly issuer: Issuer;
  readonly accounts: AuthorizationServer;
  readonly tracker: IssueTracker;
  readonly echo: EchoTools;
  readonly model: ScriptedModel;
  readonly slack: SlackStandIn;
  /** The day on which ENDING_KEY is refused, ms. */
  readonly keyEndsAt: number;
  stop(): Promise<void>;
}

const SCOPES = ['issues:read'];
const TRACKER_SECRET = 'secret-of-parley';

/** Longer than one leap of the clock, so that a leap ends no lease. */
const LEASE_MS = '600000';

/** The servers around the deployment; `accounts` listens on `port`. */
async function startNeighbours(publicUrl: string, port: number) {
  const issuerUrl = `http://127.0.0.1:${port}`;
  const api = { clientId: 'tracker-api', clientSecret: 'secret-of-the-tracker' };
  const tracker: IssueTracker = await startIssueTracker({
    verify: (token) => createTokenVerifier({ issuer: issuerUrl, ...api, resource: tracker.url })(token),
    authorizationServer: issuerUrl,
    scopes: SCOPES,
  });
  const [issuer, accounts, echo, model, slack] = await Promise.all([
    startIssuer(),
    startAuthorizationServer({
      name: 'Tracker',
      port,
      users: ['ada'],
      scopes: SCOPES,
      resources: [tracker.url],
      accessTokenSeconds: HOUR / SECOND,
      grantSeconds: (60 * DAY) / SECOND,
      clients: [
        {
          clientId: 'parley',
          clientSecret: TRACKER_SECRET,
          redirectUris: [`${publicUrl}/auth/callback/${ACCOUNT}`],
        },
        { ...api, redirectUris: [] },
      ],
    }),
    startEchoTools(),
    startScriptedModel({ script: [line] }),
    startSlack(SLACK_APP),
  ]);
  const [slowModel, slowEcho] = await Promise.all([
    openSlowDoor(model.url, MODEL_PAUSE_MS, LATER),
    openSlowDoor(echo.url, TOOL_PAUSE_MS, LATER),
  ]);
  return {
    issuer,
    accounts,
    tracker,
    echo,
    model,
    slack,
    slowModel,
    slowEcho,
    async stop() {
      const servers = [issuer, tracker, echo, model, slack, slowModel, slowEcho];
      await Promise.all([accounts.close(), ...servers.map((each) => each.stop())]);
    },
  };
}

type Neighbours = Awaited<ReturnType<typeof startNeighbours>>;

/** The settings of pods and worker. */
function settingsFor({ issuer, slack }: Neighbours, publicUrl: string, keyEndsAt: number) {
  return {
    PARLEY_PUBLIC_URL: publicUrl,
    PARLEY_CONNECT_IDENTITY: 'dev',
    PARLEY_CONNECT_TENANTS: TENANT,
    PARLEY_VAULT_KEYS: `one:${randomBytes(32).toString('base64')}`,
    PARLEY_JWT_JWKS_URL: issuer.url,
    PARLEY_JWT_ISSUER: issuer.url,
    PARLEY_JWT_AUDIENCE: AUDIENCE,
    PARLEY_JWT_TENANTS: TENANT,
    PARLEY_API_KEYS: [
      `${TENANT}/month/ask+read+chat+link+admin:${SERVICE_KEY}`,
      `${TENANT}/ending/ask+read/${new Date(keyEndsAt).toISOString().slice(0, 10)}:${ENDING_KEY}`,
    ].join(','),
    PARLEY_WEBHOOK_SECRETS: `${TENANT}:whsec_${randomBytes(24).toString('base64')}`,
    PARLEY_LOG_LEVEL: 'warn',
    PARLEY_LEASE_MS: LEASE_MS,
    PARLEY_LIMIT_USER_TOKENS: String(TOKENS_A_DAY),
    PARLEY_SLACK_CLIENT_ID: SLACK_APP.clientId,
    PARLEY_SLACK_CLIENT_SECRET: SLACK_APP.clientSecret,
    PARLEY_SLACK_SIGNING_SECRET: SLACK_APP.signingSecret,
    PARLEY_SLACK_URL: slack.url,
    TRACKER_SECRET,
  };
}

/** Starts one pod or two, with all that is around them. */
export async function openStage(
  clockEnv: Readonly<Record<string, string>>,
  preload: string,
  podCount: 1 | 2,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-month-'));
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const publicUrl = `http://127.0.0.1:${ports[0]}`;
  const [redis, neighbours] = await Promise.all([startRedis(), startNeighbours(publicUrl, ports[2])]);
  const { model, tracker, accounts, echo, slowModel, slowEcho } = neighbours;
  const config = join(folder, 'agents.yaml');
  const at = {
    model: model.url,
    tracker: tracker.url,
    issuer: accounts.issuer,
    echo: echo.url,
    slowModel: slowModel.url,
    slowEcho: slowEcho.url,
  };
  writeFileSync(config, agentsFile(at));
  const keyEndsAt = (Math.floor(Date.now() / DAY) + 2) * DAY;
  const settings = settingsFor(neighbours, publicUrl, keyEndsAt);
  const env = { ...clockEnv, ...settings, REDIS_URL: redis.url, PARLEY_CONFIG: config };
  const options = { wrap: ['env', `LD_PRELOAD=${preload}`], nodeArgs: REPORTS_MEMORY };
  const [worker, ...pods] = await Promise.all([
    startWorker(env, options),
    ...[ports[0], ports[1]]
      .slice(0, podCount)
      .map((port, index) => startPod({ ...env, PORT: String(port), PARLEY_POD: `pod-${index}` }, options)),
  ]);
  return {
    ...neighbours,
    redis,
    pods,
    worker,
    keyEndsAt,
    async stop() {
      await Promise.all([...pods, worker].map((each) => each.stop()));
      await redis.stop();
      await neighbours.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
