import type { Credential } from '@parley/shared/domain/credential';
import type { RunRef, Support } from '@parley/shared/domain/runs/run';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { createMcpOAuthConnector } from '../../../services/api/src/accounts/connectors/mcp-oauth/mcp-oauth.ts';
import type { Verify } from '../../../stand-ins/issue-tracker/gate.ts';
import { startIssueTracker } from '../../../stand-ins/issue-tracker/issue-tracker.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { connect, connectorTo, startServer, tokenVerifier } from '../../harness/pages/connectors-setup.ts';
import { startPersonalPod } from '../../harness/turns/configured.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** What happens while the model thinks about its second call. */
let beforeSecond = () => {};

/** "again" calls one tool after the other, "twice" calls two tools at once, "connect" what is there to connect by; else one call. */
function line({ userText, results, tools }: Turn): ScriptedReply {
  const lookup = { name: 'tracker__list_issues', arguments: {} };
  const connecting = tools.find(({ name }) => name === 'tracker__connect');
  if (results.length === 0 && connecting !== undefined)
    return { calls: [{ name: connecting.name, arguments: {} }] };
  if (results.length === 0)
    return { calls: userText === 'twice' ? [lookup, { ...lookup, arguments: { state: 'all' } }] : [lookup] };
  if (results.length === 1 && results[0]?.text.includes('can be called now')) return { calls: [lookup] };
  if (results.length === 1 && userText === 'again') {
    beforeSecond();
    return { calls: [lookup] };
  }
  return { text: results.map(({ text }) => text).join(' & ') };
}

const model = modelOf(line);

const SUPPORTED: Support = { form: true, url: true };
const ANNOUNCED = `
    announcedTools:
      - { name: list_issues, description: Lists issues., inputSchema: { type: object, properties: { state: { type: string } } } }`;

/** A pod whose agent acts with its person's own account at a tracker that knows these tokens. */
async function open(options: {
  readonly announced?: boolean;
  readonly verify: Verify;
  readonly connector?: Connector;
  /** Scopes that every request to the tracker needs. */
  readonly scopes?: readonly string[];
  readonly timeoutSeconds?: number;
  /** Runs before each question is asked. */
  readonly beforeAsk?: () => Promise<unknown>;
}) {
  const { verify, scopes = [], timeoutSeconds = 600 } = options;
  const tracker = await startIssueTracker({ verify, scopes });
  onTestFinished(() => tracker.stop());
  const world = worldOn(model);
  const { backend } = world;
  const engine = engineOn(backend);
  const { turns, faults, vault, give } = startPersonalPod({
    yaml: `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: tracker }], limits: { questionTimeoutSeconds: ${timeoutSeconds} } }
mcpServers:
  tracker:
    title: Issue Tracker
    transport: http
    url: "${tracker.url}"
    credentialScope: user
    connector: account${options.announced === false ? '' : ANNOUNCED}
connectors:
  account: { type: api_key, title: Issue Tracker, instructions: Look around. }
`,
    backend,
    engine: {
      ...engine,
      async ask(request) {
        await options.beforeAsk?.();
        return engine.ask(request);
      },
    },
    ...(options.connector !== undefined && { connector: options.connector }),
  });
  const { tenant, userId } = world.conversation;
  const owner = { tenant, userId };
  const ref = { ...owner, toolId: 'tracker', connectorId: 'account' };
  const questions = async () => (await engine.list({ owner, limit: 50 })).rows;
  const begin = (text: string, support: Support = SUPPORTED, conversationId = 'talk') =>
    turns.begin({ ...world.saying(text, { ...owner, conversationId }), support });
  /** The latest question that is open, once there were so many. */
  const asked = (count = 1) =>
    waitUntil(
      async () => {
        const rows = await questions();
        return rows.length >= count && rows.find(({ status }) => status === 'pending');
      },
      { what: `question ${count}` },
    );
  return {
    ...world,
    tracker,
    engine,
    vault,
    ref,
    asked,
    questions,
    begin,
    /** Begins a turn, and waits for its question, which may be over already. */
    async beginAsked() {
      const run = await begin('list');
      return { run, ...(await waitUntil(async () => (await questions())[0], { what: 'the question' })) };
    },
    give: (id: string, credential: Credential) => give(owner, id, credential),
    state: async () => (await vault.read(ref))?.state,
    /** The turn's last words. */
    async words(run: RunRef): Promise<string> {
      expect(await world.ended(run)).toBe('finished');
      expect(faults).toEqual([]);
      return world.text(run);
    },
  };
}

const key = (value: string): Credential => ({ kind: 'api_key', value });
const knows = (...tokens: string[]): Verify => {
  return async (token) => (tokens.includes(token) ? { subject: 'ada', scopes: [] } : undefined);
};

describe('a tool that acts with the user’s own account', () => {
  it('is asked for once by parallel calls', async () => {
    const pod = await open({ verify: knows('good-key-1') });
    const run = await pod.begin('twice');
    const { id } = await pod.asked();
    await waitUntil(
      async () => (await pod.events(run)).filter(({ type }) => type === 'tool-called').length === 2,
      {
        what: 'both calls',
      },
    );
    await pod.give(id, key('good-key-1'));
    expect(await pod.words(run)).toContain(' & ');
    expect(await pod.questions()).toHaveLength(1);
    expect(pod.tracker.counts().tools).toEqual({ list_issues: 2 });
  });

  it('is connected once for two chats that wait for the account', async () => {
    const pod = await open({ verify: knows('good-key-1') });
    const runs = [await pod.begin('list'), await pod.begin('list', SUPPORTED, 'another talk')];
    const { id } = await pod.asked(2);
    await pod.give(id, key('good-key-1'));
    for (const run of runs) expect(await pod.words(run)).toContain('login page');
    expect((await pod.questions()).map(({ status }) => status)).toEqual(['accepted', 'accepted']);
  });

  it('does not wait for an account that was connected while the question was asked', async () => {
    const pod = await open({
      verify: knows('good-key-1'),
      beforeAsk: () => pod.vault.save(pod.ref, key('good-key-1')),
    });
    const run = await pod.begin('list');
    expect(await pod.words(run)).toContain('login page');
    expect((await pod.questions()).map(({ status }) => status)).toEqual(['accepted']);
  });

  it('asks once more when the stored credential is refused, and continues with the new one', async () => {
    const pod = await open({ verify: knows('good-key-2') });
    await pod.vault.save(pod.ref, key('revoked-key-1'));
    const { run, id } = await pod.beginAsked();
    expect(await pod.state()).toBe('reconnect_required');
    await pod.give(id, key('good-key-2'));
    expect(await pod.words(run)).toContain('login page');
    expect(await pod.questions()).toHaveLength(1);
  });

  it('does not ask endlessly: a new credential that is refused as well ends the call', async () => {
    const pod = await open({ verify: knows() });
    await pod.vault.save(pod.ref, key('revoked-key-1'));
    const { run, id } = await pod.beginAsked();
    await pod.give(id, key('revoked-key-2'));
    expect(await pod.words(run)).toContain('refused the credential');
    expect(await pod.questions()).toHaveLength(1);
    expect(await pod.state()).toBe('reconnect_required');
    expect(pod.tracker.counts().withoutToken).toBe(0);
  });

  it('asks again in the same turn when the new credential is no longer valid', async () => {
    let good = 'good-key-1';
    const verify: Verify = (token) => (token === good ? { subject: 'ada', scopes: [] } : undefined);
    const pod = await open({ verify });
    const run = await pod.begin('again');
    const { id } = await pod.asked();
    beforeSecond = () => {
      good = 'good-key-2';
    };
    await pod.give(id, key('good-key-1'));
    const { id: other } = await pod.asked(2);
    expect(other).not.toBe(id);
    await pod.give(other, key('good-key-2'));
    expect(await pod.words(run)).toContain('login page');
    expect(await pod.questions()).toHaveLength(2);
  });

  it('makes the user connect first where the tools of the server are not known [MCP25-39 MCP26-27]', async () => {
    const pod = await open({ verify: knows('good-key-1'), announced: false });
    const { run, id } = await pod.beginAsked();
    expect(pod.tracker.counts().requests).toBe(0);
    await pod.give(id, key('good-key-1'));
    expect(await pod.words(run)).toContain('login page');
    expect(pod.tracker.counts()).toMatchObject({ withoutToken: 0, tools: { list_issues: 1 } });
  });

  it('is refreshed and called again without a question when the server refuses an old token', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { id: 'account' });
    const { credential } = await connect(connector);
    if (credential.kind !== 'oauth2') throw new Error('no tokens');
    const pod = await open({ verify: tokenVerifier(server), connector });
    await pod.vault.save(pod.ref, { ...credential, accessToken: 'an-old-access-token' });
    const run = await pod.begin('list');
    expect(await pod.words(run)).toContain('login page');
    expect(await pod.questions()).toEqual([]);
    expect(server.tokenCalls('refresh_token')).toBe(1);
    server.revokeUser('ada');
    const later = await pod.begin('list');
    const { id } = await pod.asked();
    const { credential: second } = await connect(connector);
    await pod.give(id, second);
    expect(await pod.words(later)).toContain('login page');
    expect(pod.tracker.counts().withoutToken).toBe(0);
  });
});

describe('a server that wants more scopes than the account has', () => {
  const BOTH = 'issues:read issues:write';

  /** A token of a discovered server. The name of the token decides what the tracker lets it do. */
  const token = (accessToken: 'narrow' | 'narrow-2' | 'wide', scope: string): Credential => ({
    kind: 'oauth2',
    accessToken,
    tokenType: 'Bearer',
    scope,
    grantor: {
      issuer: 'https://issuer.example',
      authorizationEndpoint: 'https://issuer.example/authorize',
      tokenEndpoint: 'https://issuer.example/token',
      sendsIssuer: true,
      clientId: 'parley',
      resource: 'https://tracker.example/mcp',
    },
  });
  const verify: Verify = async (shown) => ({
    subject: 'ada',
    scopes: (shown === 'wide' ? BOTH : 'issues:read').split(' '),
  });

  async function openWith(
    scope: string,
    more: Partial<Parameters<typeof open>[0]> = {},
    obtained?: Credential,
  ) {
    const discovering = createMcpOAuthConnector(
      {
        id: 'account',
        serverUrl: 'https://tracker.example/mcp',
        redirectUri: 'https://parley.example/auth/callback/account',
        clientName: 'Parley',
      },
      { guardedFetch: createGuardedFetch() },
    );
    const connector = {
      ...discovering,
      ...(obtained && { obtainFor: async () => ({ type: 'refreshed', credential: obtained }) as const }),
    };
    const pod = await open({ verify, connector, scopes: BOTH.split(' '), ...more });
    const managed = obtained && ({ managed: true } as const);
    await pod.vault.save(pod.ref, { ...token('narrow', scope), ...managed } as Credential);
    return pod;
  }

  it('has the person asked for them, keeps the account in the meantime, and is called once with the wider one', async () => {
    const pod = await openWith('issues:read');
    const { run, id, definition } = await pod.beginAsked();
    expect(definition.context).toMatchObject({ trigger: 'credential_required', requiredScope: BOTH });
    expect(await pod.state()).toBe('usable');
    await pod.give(id, token('wide', BOTH));
    expect(await pod.words(run)).toContain('login page');
    expect((await pod.questions()).map(({ status }) => status)).toEqual(['accepted']);
    expect(pod.tracker.counts().tools).toEqual({ list_issues: 1 });
  });

  it('has nobody asked where the company sign-in gets them, and the person where it does not', async () => {
    const wide = await openWith('issues:read', {}, token('wide', BOTH));
    expect(await wide.words(await wide.begin('list'))).toContain('login page');
    expect(await wide.questions()).toEqual([]);
    const narrow = await openWith('issues:read', {}, token('narrow-2', 'issues:read'));
    const { run, id } = await narrow.beginAsked();
    await narrow.give(id, token('wide', BOTH));
    expect(await narrow.words(run)).toContain('login page');
  });

  it('learns nothing where the person declines, and the account stays as it is', async () => {
    const pod = await openWith('issues:read');
    const { run, id } = await pod.beginAsked();
    await pod.answer(id, 'decline');
    expect(await pod.words(run)).toContain('was not extended');
    expect(await pod.state()).toBe('usable');
    expect(pod.tracker.counts().tools).toEqual({});
  });

  it('asks once: wider scopes that do not satisfy it end the call', async () => {
    const pod = await openWith('issues:read');
    const { run, id } = await pod.beginAsked();
    await pod.give(id, token('narrow-2', BOTH));
    expect(await pod.words(run)).toContain('lacks a permission');
    expect(await pod.questions()).toHaveLength(1);
  });

  it('has nobody asked for scopes that the account has', async () => {
    const pod = await openWith(BOTH);
    expect(await pod.words(await pod.begin('list'))).toContain('lacks a permission');
    expect(await pod.questions()).toEqual([]);
    expect(await pod.state()).toBe('usable');
  });

  it('has the person asked before its tools are known', async () => {
    const pod = await openWith('issues:read', { announced: false });
    const { run, id, definition } = await pod.beginAsked();
    expect(definition.context).toMatchObject({ requiredScope: BOTH });
    await pod.give(id, token('wide', BOTH));
    expect(await pod.words(run)).toContain('login page');
  });
});
