import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../infra/demo/stand-ins/authorization-server/authorization-server.ts';
import { createTokenVerifier } from '../../../infra/demo/stand-ins/authorization-server/verify.ts';
import { type EchoTools, startEchoTools } from '../../../infra/demo/stand-ins/issue-tracker/echo.ts';
import {
  type IssueTracker,
  startIssueTracker,
} from '../../../infra/demo/stand-ins/issue-tracker/issue-tracker.ts';
import { textOf } from '../../../infra/demo/stand-ins/scripted-model/protocol.ts';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { freePort } from '../../harness/free-port.ts';
import { type ManagedProcess, type Pod, startPod, startWorker } from '../../harness/processes/processes.ts';
import { REPORTS_MEMORY } from '../../harness/processes/resources.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { type SlackStandIn, startSlack } from '../../harness/slack/slack.ts';
import { type Issuer, startIssuer } from './issuer.ts';
import { ACCOUNT, AUDIENCE, ENDING_KEY, SERVICE_KEY, SLACK_APP, TENANT, TOKENS_A_DAY } from './settings.ts';

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
const DAY_MS = 86_400_000;

/** Longer than one leap of the clock, so that a leap ends no lease. */
const LEASE_MS = '600000';

/** Starts one pod or two, with all that is around them. */
export async function openStage(
  clockEnv: Readonly<Record<string, string>>,
  preload: string,
  podCount: 1 | 2,
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-month-'));
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const issuerUrl = `http://127.0.0.1:${ports[2]}`;
  const api = { clientId: 'tracker-api', clientSecret: 'secret-of-the-tracker' };
  const tracker: IssueTracker = await startIssueTracker({
    verify: (token) => createTokenVerifier({ issuer: issuerUrl, ...api, resource: tracker.url })(token),
    authorizationServer: issuerUrl,
    scopes: SCOPES,
  });
  const publicUrl = `http://127.0.0.1:${ports[0]}`;
  const [redis, issuer, accounts, echo, model, slack] = await Promise.all([
    startRedis(),
    startIssuer(),
    startAuthorizationServer({
      name: 'Tracker',
      port: ports[2],
      users: ['ada'],
      scopes: SCOPES,
      resources: [tracker.url],
      accessTokenSeconds: 3_600,
      grantSeconds: 60 * 86_400,
      clients: [
        {
          clientId: 'parley',
          clientSecret: 'secret-of-parley',
          redirectUris: [`${publicUrl}/auth/callback/${ACCOUNT}`],
        },
        { ...api, redirectUris: [] },
      ],
    }),
    startEchoTools(),
    startScriptedModel({ script: [line] }),
    startSlack(SLACK_APP),
  ]);
  const config = join(folder, 'agents.yaml');
  writeFileSync(
    config,
    agentsFile({ model: model.url, tracker: tracker.url, issuer: issuerUrl, echo: echo.url }),
  );
  const keyEndsAt = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS;
  const env = {
    ...clockEnv,
    REDIS_URL: redis.url,
    PARLEY_CONFIG: config,
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
    TRACKER_SECRET: 'secret-of-parley',
  };
  const options = { wrap: ['env', `LD_PRELOAD=${preload}`] };
  const [worker, ...pods] = await Promise.all([
    startWorker(env, { ...options, nodeArgs: REPORTS_MEMORY }),
    ...[ports[0], ports[1]]
      .slice(0, podCount)
      .map((port, index) =>
        startPod(
          { ...env, PORT: String(port), PARLEY_POD: `pod-${index}` },
          { ...options, nodeArgs: REPORTS_MEMORY },
        ),
      ),
  ]);
  return {
    redis,
    pods,
    worker,
    issuer,
    accounts,
    tracker,
    echo,
    model,
    slack,
    keyEndsAt,
    async stop() {
      await Promise.all([...pods, worker].map((each) => each.stop()));
      await redis.stop();
      await Promise.all([
        issuer.stop(),
        accounts.close(),
        tracker.stop(),
        echo.stop(),
        model.stop(),
        slack.stop(),
      ]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function agentsFile(at: {
  readonly model: string;
  readonly tracker: string;
  readonly issuer: string;
  readonly echo: string;
}) {
  return `defaultAgent: helper
models:
  scripted: { provider: openai-compatible, baseUrl: "${at.model}", model: scripted }
agents:
  helper:
    title: Helper
    model: scripted
    instructions: Be patient.
    elicit: true
    tools: [{ server: tracker }, { server: echo }]
    limits: { questionTimeoutSeconds: 604800 }
  notifier:
    title: Notifier
    model: scripted
    instructions: Be heard.
    elicit: true
    limits: { questionTimeoutSeconds: 604800 }
    notify: { channel: slack, afterSeconds: 3600, remind: { afterSeconds: 86400, atMost: 2 } }
mcpServers:
  tracker:
    title: Tracker
    transport: http
    url: "${at.tracker}"
    credentialScope: user
    connector: ${ACCOUNT}
    announcedTools:
      - { name: list_issues, description: Lists issues., inputSchema: { type: object } }
  echo:
    title: Echo
    transport: http
    url: "${at.echo}"
    credentialScope: none
    approval: { ask: always, remember: 7 days }
connectors:
  ${ACCOUNT}:
    type: oauth2
    title: Tracker
    issuer: "${at.issuer}"
    clientId: parley
    clientSecretEnv: TRACKER_SECRET
    scopes: [issues:read]
    resource: "${at.tracker}"
`;
}

/** What the model says: it asks, lists issues or echoes when it is told to, else it repeats all that was said to it. */
function line({ userText, results, messages }: Turn): ScriptedReply {
  const last = results.at(-1);
  if (last !== undefined) return { text: `Got: ${last.text}` };
  if (userText === 'ask')
    return { calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } }] };
  if (userText === 'list') return { calls: [{ name: 'tracker__list_issues', arguments: {} }] };
  if (userText.startsWith('echo ')) return { calls: [{ name: 'echo__echo', arguments: { text: userText } }] };
  const said = messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
  return { text: `Heard: ${said.join(' | ')}` };
}
