import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CompanyPolicy, TOKEN_EXCHANGE } from '../../../stand-ins/authorization-server/assertions.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../../stand-ins/authorization-server/authorization-server.ts';
import { createTokenVerifier } from '../../../stand-ins/authorization-server/verify.ts';
import { JWT_BEARER } from '../../../stand-ins/authorization-server/workloads.ts';
import { type IssueTracker, startIssueTracker } from '../../../stand-ins/issue-tracker/issue-tracker.ts';
import { canary, findCanary } from '../../harness/canary.ts';
import {
  createChatClient,
  person,
  questionsIn,
  SECRET,
  textOf,
  untilAsked,
} from '../../harness/chat/client.ts';
import { freePort } from '../../harness/free-port.ts';
import { createRoundRobin, type RoundRobin } from '../../harness/http/round-robin.ts';
import { createTestBrowser, headingOf } from '../../harness/pages/browser.ts';
import { dumpRedis } from '../../harness/redis/dump-redis.ts';
import { withRedis } from '../../harness/redis/redis-command.ts';
import { openSite, type Site, type SitePod } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const SERVERS = ['tracker', 'wiki'] as const;
const API = { clientId: 'api', clientSecret: canary('api') };
const PAGES = { clientId: 'parley-pages', clientSecret: canary('pages-client') };
const CLIENT = { clientId: 'parley', clientSecret: canary('managed-client') };
/** Whom both authorization servers know. The names depend on how many people earlier test files had. */
const people: string[] = [];
const policy: CompanyPolicy = { clients: new Map(), refused: new Map() };

let site: Site;
let proxy: RoundRobin;
let company: AuthorizationServer;
let accounts: AuthorizationServer;
let servers: readonly IssueTracker[];
let pods: SitePod[];
const { say, resume } = createChatClient((pod) => pods[pod]?.url ?? '');
/** Everything that the pods wrote, also those that were killed. */
const logged: (() => readonly string[])[] = [];
let env: Record<string, string>;

beforeAll(async () => {
  [site, proxy] = await Promise.all([openSite(), createRoundRobin({ targets: [], pick: 'random' })]);
  const model = await site.model({
    script: [
      ({ userText, results }) =>
        results.length > 0
          ? { text: `Done: ${results.map(({ text }) => text).join(' ')}` }
          : { calls: [{ name: `${userText}__list_issues`, arguments: {} }] },
    ],
  });
  const at = await freePort();
  const issuer = `http://127.0.0.1:${at}`;
  const redirectUris = [`${proxy.url}/auth/signed-in`];
  company = await startAuthorizationServer({
    name: 'Company',
    users: people,
    clients: [{ ...PAGES, redirectUris, firstParty: true, exchanges: true }],
    company: policy,
  });
  servers = await Promise.all(
    SERVERS.map(async () => {
      const server: IssueTracker = await startIssueTracker({
        authorizationServer: issuer,
        scopes: ['issues:read'],
        verify: (token) => createTokenVerifier({ issuer, ...API, resource: server.url })(token),
      });
      return server;
    }),
  );
  accounts = await startAuthorizationServer({
    name: 'Accounts',
    port: at,
    users: people,
    scopes: ['issues:read'],
    resources: servers.map(({ url }) => url),
    clients: [
      { ...API, redirectUris: [] },
      {
        ...CLIENT,
        redirectUris: SERVERS.map((name) => `${proxy.url}/auth/callback/${name}`),
        managed: true,
      },
    ],
    trusts: company.issuer,
  });
  policy.clients.set(issuer, CLIENT.clientId);
  const config = site.agents(
    model.url,
    `agents:
  helper: { title: Helper, model: scripted, instructions: Help., tools: [{ server: tracker }, { server: wiki }] }
mcpServers:${SERVERS.map((name, index) => serverYaml(name, servers[index]?.url ?? '')).join('')}
connectors:${SERVERS.map((name) => connectorYaml(name, issuer)).join('')}
`,
  );
  env = {
    PARLEY_CONFIG: config,
    PARLEY_PUBLIC_URL: proxy.url,
    PARLEY_CONNECT_IDENTITY: 'oidc',
    PARLEY_CONNECT_PROXY_HOPS: '1',
    PARLEY_CONNECT_OIDC_ISSUER: company.issuer,
    PARLEY_CONNECT_OIDC_CLIENT_ID: PAGES.clientId,
    PARLEY_CONNECT_OIDC_CLIENT_SECRET: PAGES.clientSecret,
    PARLEY_VAULT_KEYS: `one:${randomBytes(32).toString('base64')}`,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_LOG_LEVEL: 'trace',
    PARLEY_LEASE_MS: '10000',
    MANAGED_SECRET: CLIENT.clientSecret,
  };
  pods = await Promise.all([startPod('pod-0'), startPod('pod-1')]);
  await balance();
});
afterAll(async () => {
  await proxy?.close();
  await site?.stop();
  await Promise.all([company?.close(), accounts?.close(), ...(servers ?? []).map((each) => each.stop())]);
});

const serverYaml = (name: string, url: string) => `
  ${name}:
    { title: ${name}, transport: http, url: "${url}", credentialScope: user, connector: ${name}, announcedTools: [{ name: list_issues, description: Lists issues., inputSchema: { type: object } }] }`;
const connectorYaml = (name: string, issuer: string) => `
  ${name}:
    { type: mcp_oauth, title: ${name}, issuer: "${issuer}", clientId: ${CLIENT.clientId}, clientSecretEnv: MANAGED_SECRET, enterpriseManaged: true }`;

async function startPod(name: string): Promise<SitePod> {
  const pod = await site.pod({ ...env, PARLEY_POD: name }, { name });
  logged.push(() => [...pod.lines, ...pod.stderr]);
  return pod;
}

const balance = () => proxy.setTargets(pods.map(({ url }, index) => ({ name: `pod-${index}`, url })));

/** Somebody with a chat and a browser. Nobody knows them yet. */
async function newPerson() {
  const { userId, authorization } = await person();
  people.push(userId);
  const browser = createTestBrowser({ publicUrl: proxy.url });
  let chats = 0;
  return {
    userId,
    authorization,
    browser,
    chatId: () => `${userId}-${chats}`,
    ask(server: string, pod = 0) {
      chats += 1;
      return say({ authorization, text: server, chatId: `${userId}-${chats}`, pod });
    },
    accounts: async () => (await browser.open('/auth/accounts')).html,
  };
}

/** What a turn came to: the states of its questions, and its text. */
async function outcome({ done }: Awaited<ReturnType<ReturnType<typeof createChatClient>['say']>>) {
  const message = await done;
  return { questions: questionsIn(message).map(({ status }) => status), text: textOf(message) };
}

const LISTED = expect.stringContaining('The login page is slow');
const MANAGED = 'Connected through your company sign-in';

it('a sign-in for one question connects its account, and every further one without a question, on all pods', async () => {
  const ada = await newPerson();
  const turn = await ada.ask('tracker');
  const question = await untilAsked(turn);
  // Signed in, and nothing else: there is no page of the provider.
  const shown = await ada.browser.enter(`/auth/connect/${question}`, ada.userId);
  expect(shown.heading).toBe(headingOf({ page: 'done', service: 'tracker' }));
  expect(await outcome(turn)).toEqual({ questions: ['accepted'], text: LISTED });
  expect(await outcome(await ada.ask('wiki', 1))).toEqual({ questions: [], text: LISTED });
  expect((await ada.accounts()).split(MANAGED)).toHaveLength(3);

  // Disconnected, it is asked for, on the ordinary page.
  const confirm = await ada.browser.open('/auth/accounts/wiki/disconnect');
  await ada.browser.submit(confirm, 'disconnect');
  expect((await ada.accounts()).split(MANAGED)).toHaveLength(2);
  const again = await ada.ask('wiki');
  const consent = await ada.browser.enter(`/auth/connect/${await untilAsked(again)}`, ada.userId);
  const done = await ada.browser.connect(consent, ada.userId);
  expect(done.heading).toBe(headingOf({ page: 'done', service: 'wiki' }));
  expect(await outcome(again)).toEqual({ questions: ['accepted'], text: LISTED });
});

it('a person whom the company refuses connects on the ordinary page', async () => {
  const bob = await newPerson();
  policy.refused.set(bob.userId, 'access_denied');
  const turn = await bob.ask('tracker', 1);
  const consent = await bob.browser.enter(`/auth/connect/${await untilAsked(turn)}`, bob.userId);
  const done = await bob.browser.connect(consent, bob.userId);
  expect(done.heading).toBe(headingOf({ page: 'done', service: 'tracker' }));
  expect(await outcome(turn)).toEqual({ questions: ['accepted'], text: LISTED });
  expect(await bob.accounts()).not.toContain(MANAGED);
});

it('a pod that dies between the assertion and the use of the token leaves the call to another, and nobody is asked', async () => {
  const eve = await newPerson();
  expect((await eve.browser.enter('/auth/accounts', eve.userId)).status).toBe(200);
  const exchanged = company.tokenCalls(TOKEN_EXCHANGE);
  const slow = accounts.misbehave({ at: 'token', delayMs: 600_000 });
  const turn = await eve.ask('wiki');
  await waitUntil(() => company.tokenCalls(TOKEN_EXCHANGE) > exchanged, { what: 'the assertion' });
  pods[0]?.kill('SIGKILL');
  slow();
  await turn.done.catch(() => undefined);
  pods[0] = await startPod('pod-2');
  await balance();
  const resumed = await resume(1, eve.authorization, eve.chatId());
  if (resumed === undefined) throw new Error('the turn is over');
  expect(await outcome(resumed)).toEqual({ questions: [], text: LISTED });
  const obtained = accounts.tokenCalls(JWT_BEARER);
  expect(await outcome(await eve.ask('wiki', 1))).toEqual({ questions: [], text: LISTED });
  expect(accounts.tokenCalls(JWT_BEARER)).toBe(obtained);
});

it('no pod starts whose pages sign nobody in', async () => {
  const elsewhere = { PARLEY_CONNECT_IDENTITY: 'session', PARLEY_CONNECT_SESSION_URL: 'http://127.0.0.1:9/' };
  await expect(site.pod({ ...env, ...elsewhere })).rejects.toThrow('must be oidc');
});

it('a sign-in ends on a pod that connects no account by it any more, too', async () => {
  const lee = await newPerson();
  const accountsPage = await lee.browser.enter('/auth/accounts', lee.userId);
  const stored = () => withRedis(site.redis.url, (client) => client.keys(`*:credential:*/${lee.userId}/*`));
  expect(await stored()).toEqual([expect.stringContaining('sign-in')]);
  const config = `${env.PARLEY_CONFIG}.plain.yaml`;
  const managed = await readFile(env.PARLEY_CONFIG ?? '', 'utf8');
  await writeFile(config, managed.replaceAll(', enterpriseManaged: true', ''));
  const plain = await site.pod({ ...env, PARLEY_CONFIG: config, PARLEY_POD: 'plain' });
  await proxy.setTargets([{ name: 'plain', url: plain.url }]);
  await lee.browser.submit(accountsPage, 'sign-out');
  await balance();
  expect(await stored()).toEqual([]);
});

it('the end of the sign-in ends what it connects, and no secret is ever told', async () => {
  const kim = await newPerson();
  const accountsPage = await kim.browser.enter('/auth/accounts', kim.userId);
  expect(await outcome(await kim.ask('tracker'))).toEqual({ questions: [], text: LISTED });
  await kim.browser.submit(accountsPage, 'sign-out');
  expect(accounts.revokeUser(kim.userId)).toBeGreaterThan(0);
  await untilAsked(await kim.ask('tracker', 1));

  const stored = await withRedis(site.redis.url, (client) => dumpRedis(client));
  const evidence = [...logged.flatMap((lines) => lines()), ...stored];
  for (const secret of [PAGES.clientSecret, CLIENT.clientSecret])
    expect(findCanary(secret, evidence)).toEqual([]);
  // ID tokens and assertions alike.
  expect(evidence.filter((text) => /eyJ[\w-]{20,}\.eyJ[\w-]{20,}\./.test(text))).toEqual([]);
});
