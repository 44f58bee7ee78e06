import { randomUUID } from 'node:crypto';
import { CLIENT_CAPABILITIES_META_KEY, type ClientCapabilities, Server } from '@modelcontextprotocol/server';
import type { Owner } from '@parley/core/domain/ids';
import type { RunRef, Support } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOutcome, createCallResult } from '../../../services/api/src/turns/call-result.ts';
import { followTurn } from '../../../services/api/src/turns/follow.ts';
import { type IssueTracker, startIssueTracker } from '../../../stand-ins/issue-tracker/issue-tracker.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { type RunningMcpServer, startMcpServer } from '../../harness/mcp-servers/mcp-servers.ts';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';
import { DEMANDED } from '../../harness/mcp-servers/tools.ts';
import { startPersonalPod } from '../../harness/turns/configured.ts';
import { readEvents } from '../../harness/turns/setup.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const KEY = 'good-key-1';

let plain: RunningMcpServer;
let choosy: ServedMcp;
let tracker: IssueTracker;
beforeAll(async () => {
  // As the reference server of MCP does, it has tools that ask for those alone who can be asked.
  choosy = await serveMcp(() => {
    const server = new Server({ name: 'choosy', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', (_request, { mcpReq }) => {
      const declared = (mcpReq.envelope ?? {}) as Readonly<Record<string, ClientCapabilities>>;
      const { elicitation = {}, sampling } = declared[CLIENT_CAPABILITIES_META_KEY] ?? {};
      const ways = [...Object.keys(elicitation), ...(sampling === undefined ? [] : ['sampling'])];
      const tools = ways.map((way) => `ask_by_${way}`);
      return { tools: tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })) };
    });
    return server;
  });
  plain = await startMcpServer({ revision: 'new' });
  tracker = await startIssueTracker({
    verify: async (token) => (token === KEY ? { subject: 'ada', scopes: [] } : undefined),
  });
});
afterAll(() => Promise.all([plain.kill(), choosy.stop(), tracker.stop()]));

const OFFER = `
  tools:
    - { server: plain, allow: [echo, whoami, fail, hang, big, picture], prefix: false }
    - { server: tracker, access: { callers: [user] } }`;

const config = (offer: string) => `models:
  unused: { provider: openai-compatible, baseUrl: "http://127.0.0.1:1", model: unused }
agents:
  helper: { title: Helper, model: unused, instructions: Be brief. }
  hidden: { title: Hidden, model: unused, instructions: Be brief., access: { users: [nobody-here] } }
defaultAgent: helper
mcpServers:
  plain: { title: Plain, transport: http, url: "${plain.url}", credentialScope: none }
  guarded: { title: Guarded, transport: http, url: "${plain.url}", credentialScope: none, approval: { ask: always } }
  choosy: { title: Choosy, transport: http, url: "${choosy.url}", credentialScope: none }
  away: { title: Away, transport: http, url: "http://127.0.0.1:1/mcp", credentialScope: none }
  tracker: { title: Issue Tracker, transport: http, url: "${tracker.url}", credentialScope: user, connector: account }
connectors:
  account: { type: api_key, title: Issue Tracker, instructions: Look around. }
mcpOffer:${offer}
`;

/** The turns of one pod. */
function podOn(backend: Backend, { offer = OFFER, pod = 'pod' } = {}) {
  const configured = startPersonalPod({ yaml: config(offer), backend, keys: KEYS, pod });
  const { engine, turns } = configured;
  return {
    ...configured,
    call(owner: Owner, server: string, tool: string, args: Record<string, unknown> = {}, more = {}) {
      return turns.beginCall({
        conversation: { ...owner, conversationId: `conv_${randomUUID()}` },
        target: { server, tool },
        arguments: args,
        support: SUPPORTED,
        ...more,
      });
    },
    /** How the call ended, as a reader on this pod sees it. */
    async outcome(run: RunRef): Promise<CallOutcome | undefined> {
      const result = createCallResult();
      const events = await followTurn({ engine, turns }, run, { signal: AbortSignal.timeout(60_000) });
      for await (const event of events) if (result.take(event)) break;
      return result.outcome;
    },
  };
}

/** A pod on a backend of its own. */
const newPod = (options?: Parameters<typeof podOn>[1]) => podOn(createMemoryBackend(ROOMY), options);

const SUPPORTED: Support = { form: true, url: true };
const SIGNAL = AbortSignal.timeout(600_000);
const KEYS = newKeys();

const callerOf = ({ tenant, userId }: Owner) => ({ kind: 'user', tenant, userId }) as const;
const callsOf = (name: string) => plain.seen.filter(({ tool }) => tool === name).length;

/** What the connect page does once it has a credential. */
async function connect(pod: ReturnType<typeof podOn>, owner: Owner) {
  const asked = await waitUntil(
    async () => (await pod.engine.list({ owner, statuses: ['pending'], limit: 5 })).rows[0],
    { what: 'the question' },
  );
  await pod.give(owner, asked.id, { kind: 'api_key', value: KEY });
  return asked;
}

describe('a tool that is offered again and needs an approval', () => {
  const OFFERED = '\n  tools: [{ server: guarded, allow: [echo] }]';
  const untilAsked = (pod: ReturnType<typeof podOn>, owner: Owner) =>
    waitUntil(
      async () => (await pod.engine.approvals.list({ owner, statuses: ['pending'], limit: 5 })).rows[0],
      {
        what: 'the approval',
      },
    );

  it.each([
    ['as it is', { decision: 'approve' }, 'said'],
    ['with other arguments', { decision: 'edit', arguments: { text: 'edited' } }, 'edited'],
    ['not at all', { decision: 'deny', reason: 'Not that.' }, undefined],
  ] as const)('is called as its person decides: %s', async (_, response, sent) => {
    const pod = newPod({ offer: OFFERED });
    const owner = newOwner();
    const before = callsOf('echo');
    const run = await pod.call(owner, 'guarded', 'echo', { text: 'said' });
    const { id } = await untilAsked(pod, owner);
    expect(callsOf('echo')).toBe(before);
    await pod.engine.approvals.decide({ caller: callerOf(owner), id, response, surface: 'inbox' });
    const outcome = JSON.stringify(await pod.outcome(run));
    expect(outcome).toContain(sent ?? 'Not that.');
    expect(callsOf('echo') - before).toBe(sent === undefined ? 0 : 1);
    expect(pod.faults).toEqual([]);
  });
});

describe('a run of one tool call', () => {
  it('ends with the whole result of the server, without a model', async () => {
    const backend = createMemoryBackend(ROOMY);
    const pod = podOn(backend);
    const owner = newOwner();
    const echo = await pod.call(owner, 'plain', 'echo', { text: 'hello' });
    expect(await pod.outcome(echo)).toMatchObject({
      type: 'result',
      result: { content: [{ type: 'text', text: 'hello' }], structuredContent: { echoed: 'hello' } },
    });
    const picture = await pod.outcome(await pod.call(owner, 'plain', 'picture'));
    expect(picture).toMatchObject({
      type: 'result',
      result: {
        content: [
          { type: 'text' },
          { type: 'image', mimeType: 'image/png', data: Buffer.alloc(3_000).toString('base64') },
          { type: 'resource_link', uri: 'https://example.com/a', name: 'a page' },
        ],
      },
    });
    const failed = await pod.outcome(await pod.call(owner, 'plain', 'fail'));
    expect(failed).toMatchObject({ type: 'result', result: { isError: true } });
    expect(pod.faults).toEqual([]);
    const { conversationId } = echo;
    expect((await backend.conversations.read({ ...owner, conversationId })).messages).toEqual([]);
  });

  it('tells how far it has come, as the server says it', async () => {
    const backend = createMemoryBackend(ROOMY);
    const pod = podOn(backend, { offer: ' { tools: [{ server: plain }] }' });
    const run = await pod.call(newOwner(), 'plain', 'steps');
    expect(await pod.outcome(run)).toMatchObject({ type: 'result' });
    const progress = (await readEvents(backend, run)).filter(({ type }) => type === 'tool-progress');
    expect(progress).toMatchObject([
      { toolCallId: 'call', progress: 1, total: 2 },
      { toolCallId: 'call', progress: 2, total: 2 },
    ]);
  });

  it('says why there is no result', async () => {
    const pod = newPod({
      offer: ' { tools: [{ server: plain }, { server: away }] }',
    });
    const owner = newOwner();
    const told = async (server: string, tool: string, args = {}) =>
      pod.outcome(await pod.call(owner, server, tool, args));
    expect(await told('plain', 'no-such-tool')).toMatchObject({
      type: 'failed',
      message: expect.stringContaining('Plain refused the call'),
    });
    expect(await told('away', 'any')).toMatchObject({
      type: 'failed',
      message: expect.stringContaining('Away could not be reached'),
    });
    expect(await told('plain', 'demands')).toMatchObject({
      type: 'failed',
      refusal: { code: -32021, message: 'Declare sampling.', data: DEMANDED },
    });
    expect(await told('plain', 'big', { bytes: 1_500_000 })).toMatchObject({
      type: 'result',
      result: { isError: true, content: [{ text: expect.stringContaining('was dropped') }] },
    });
  });

  it('asks for the person’s own account and then makes the call once, on whichever pod continues it', async () => {
    const backend = createMemoryBackend(ROOMY);
    const [first, second] = [podOn(backend, { pod: 'one' }), podOn(backend, { pod: 'two' })];
    const owner = newOwner();
    const before = tracker.counts().tools.list_issues ?? 0;
    const run = await first.call(owner, 'tracker', 'list_issues', {}, { delivery: 'detach' });
    await waitUntil(
      async () => (await readEvents(backend, run)).some(({ type }) => type === 'turn-detached'),
      { what: 'the detached run' },
    );
    await first.turns.close();
    const { definition } = await connect(second, owner);
    expect(definition).toMatchObject({ mode: 'url', message: expect.stringContaining('Your MCP client') });
    // Has a run resumed that no worker resumes here.
    expect(await second.turns.isWaiting(run)).toBe(false);
    const outcome = await second.outcome(run);
    expect(JSON.stringify(outcome)).toContain('login page');
    expect(tracker.counts().tools.list_issues).toBe(before + 1);
    expect([...first.faults, ...second.faults]).toEqual([]);
  });

  it('is not made without a credential where the client cannot show how to connect', async () => {
    const pod = newPod();
    const before = tracker.counts().requests;
    const support = { form: true, url: false };
    const run = await pod.call(newOwner(), 'tracker', 'list_issues', {}, { support });
    expect(await pod.outcome(run)).toMatchObject({
      type: 'failed',
      code: 'call_failed',
      message: expect.stringContaining("needs the user's own account at Issue Tracker"),
    });
    expect(tracker.counts().requests).toBe(before);
  });

  it('is found again by a repeated request, and made once', async () => {
    const pod = newPod();
    const owner = newOwner();
    const before = callsOf('whoami');
    const repeatable = { key: 'the-same', digest: 'as-before' };
    const one = await pod.call(owner, 'plain', 'whoami', {}, { repeatable });
    const two = await pod.call(owner, 'plain', 'whoami', {}, { repeatable });
    expect(two).toEqual({ ...one, isRepeat: true });
    expect(await pod.outcome(two)).toEqual(await pod.outcome(one));
    expect(callsOf('whoami')).toBe(before + 1);
  });

  it('is stopped with its turn', async () => {
    const pod = newPod();
    const owner = newOwner();
    const before = callsOf('hang');
    const run = await pod.call(owner, 'plain', 'hang');
    await waitUntil(() => callsOf('hang') === before + 1, { what: 'the call' });
    await pod.turns.stop(run);
    expect(await pod.outcome(run)).toMatchObject({ type: 'failed', code: 'stopped' });
  });
});

describe('what MCP clients are offered', () => {
  it('is the agents and tools of the configuration, as far as the caller may use them', async () => {
    const pod = newPod();
    const owner = newOwner();
    const offered = await pod.turns.listOffered(callerOf(owner), SIGNAL);
    expect(offered.map(({ name }) => name)).toEqual([
      'helper',
      'echo',
      'whoami',
      'fail',
      'hang',
      'big',
      'picture',
      'tracker__connect',
    ]);
    expect(offered[1]).toMatchObject({
      title: 'Echo',
      inputSchema: { properties: { text: { type: 'string' } } },
      annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: true },
      target: { type: 'tool', server: 'plain', tool: 'echo' },
    });
    expect(offered[0]).toMatchObject({ target: { type: 'agent', agent: 'helper' } });
    const service = { kind: 'service', tenant: owner.tenant, keyId: 'key' } as const;
    const names = (await pod.turns.listOffered(service, SIGNAL)).map(({ name }) => name);
    expect(names).not.toContain('tracker__connect');
  });

  it('includes the tools of an account once it is connected, and finds them before', async () => {
    const pod = newPod();
    const owner = newOwner();
    const found = (name: string) => pod.turns.findOffered(callerOf(owner), name, SIGNAL);
    const task = { mode: 'auto', afterMs: 5_000 };
    const target = { type: 'tool', server: 'tracker', tool: 'list_issues', task };
    expect(await found('tracker__list_issues')).toEqual(target);
    const run = await pod.call(owner, 'tracker', 'connect');
    await connect(pod, owner);
    expect(JSON.stringify(await pod.outcome(run))).toContain('is connected');
    const names = (await pod.turns.listOffered(callerOf(owner), SIGNAL)).map(({ name }) => name);
    expect(names).toContain('tracker__list_issues');
    expect(names).not.toContain('tracker__connect');
    expect(await found('tracker__list_issues')).toEqual(target);
    expect(await found('tracker__no_such_tool')).toBeUndefined();
  });

  it.each<[string[], Support]>([
    [['form', 'url'], { form: true, url: true }],
    [['form'], { form: true, url: false }],
    [['url'], { form: false, url: true }],
    [['sampling'], { form: false, url: false, services: { sampling: { tools: false } } }],
    [[], { form: false, url: false }],
  ])('is what a server has for clients that can be asked by %j', async (ways, support) => {
    const pod = newPod({ offer: ' { agents: [], tools: [{ server: choosy }] }' });
    const offered = await pod.turns.listOffered(callerOf(newOwner()), SIGNAL, support);
    expect(offered.map(({ name }) => name)).toEqual(ways.map((way) => `choosy__ask_by_${way}`));
    for (const way of ['form', 'url', 'sampling']) {
      const name = `choosy__ask_by_${way}`;
      const found = await pod.turns.findOffered(callerOf(newOwner()), name, SIGNAL, support);
      expect(found !== undefined).toBe(ways.includes(way));
    }
  });

  it('has a name for one server only, whether or not it can be reached', async () => {
    const offer = `
  tools:
    - { server: away, allow: [search], prefix: false }
    - { server: plain, prefix: false, allow: [echo] }`;
    const pod = newPod({ offer });
    const found = (name: string) => pod.turns.findOffered(callerOf(newOwner()), name, SIGNAL);
    expect(await found('search')).toMatchObject({ type: 'tool', server: 'away', tool: 'search' });
    expect(await found('echo')).toMatchObject({ type: 'tool', server: 'plain', tool: 'echo' });
    expect(await found('whoami')).toBeUndefined();
  });

  it.each(['hidden', 'steps', 'plain__echo', 'list_issues', '', 'tracker__'])(
    'does not include %j',
    async (name) => {
      const pod = newPod();
      expect(await pod.turns.findOffered(callerOf(newOwner()), name, SIGNAL)).toBeUndefined();
    },
  );
});
