import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, describe, expect, it } from 'vitest';
import { startEchoTools } from '../../../infra/demo/stand-ins/issue-tracker/echo.ts';
import {
  type IssueTrackerOptions,
  startIssueTracker,
} from '../../../infra/demo/stand-ins/issue-tracker/issue-tracker.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const INFO = { name: 'stand-in-tests', version: '1.0.0' };
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** What both generations of clients give alike. */
interface McpPeer {
  listTools(): Promise<{ tools: { name: string; annotations?: unknown }[] }>;
  callTool(
    call: { name: string; arguments?: Record<string, unknown> },
    signal?: AbortSignal,
  ): Promise<{ text: string; isError: boolean }>;
  close(): Promise<void>;
}

type Connect = (url: string, headers: Record<string, string>) => Promise<McpPeer>;

function textIn(result: unknown): { text: string; isError: boolean } {
  const { content, isError } = result as { content: { text: string }[]; isError?: boolean };
  return { text: content.map(({ text }) => text).join(''), isError: isError === true };
}

const connectV1: Connect = async (url, headers) => {
  const client = new ClientV1(INFO);
  // The class of v1 does not fit its own interface under exactOptionalPropertyTypes.
  await client.connect(new TransportV1(new URL(url), { requestInit: { headers } }) as unknown as Transport);
  return {
    listTools: () => client.listTools(),
    callTool: async (call, signal) =>
      textIn(await client.callTool(call, undefined, { ...(signal && { signal }) })),
    close: () => client.close(),
  };
};

const connectV2 =
  (mode: 'legacy' | { pin: '2026-07-28' }, era: string): Connect =>
  async (url, headers) => {
    const client = new ClientV2(INFO, { versionNegotiation: { mode } });
    await client.connect(new TransportV2(new URL(url), { requestInit: { headers } }));
    expect(client.getProtocolEra()).toBe(era);
    return {
      listTools: () => client.listTools(),
      callTool: async (call, signal) => textIn(await client.callTool(call, { ...(signal && { signal }) })),
      close: () => client.close(),
    };
  };

const PEERS: [string, Connect][] = [
  ['the v1 SDK', connectV1],
  ['the v2 client on the 2025 revisions', connectV2('legacy', 'legacy')],
  ['the v2 client on 2026-07-28', connectV2({ pin: '2026-07-28' }, 'modern')],
];

/** A tracker whose tokens are `token-of-<subject>` until they are revoked. */
async function start(options: Partial<IssueTrackerOptions> = {}) {
  const revoked = new Set<string>();
  const tracker = await startIssueTracker({
    verify: async (token) => {
      const subject = /^token-of-(\w+)$/.exec(token)?.[1];
      return subject === undefined || revoked.has(token) ? undefined : { subject, scopes: ['issues'] };
    },
    ...options,
  });
  cleanups.push(() => tracker.stop());
  return { tracker, revoke: (subject: string) => revoked.add(`token-of-${subject}`) };
}

async function signedIn(connect: Connect, { url }: { url: string }, subject: string): Promise<McpPeer> {
  const peer = await connect(url, { authorization: `Bearer token-of-${subject}` });
  cleanups.push(() => peer.close());
  return peer;
}

const titlesIn = ({ text }: { text: string }) =>
  (JSON.parse(text) as { issues: { title: string }[] }).issues.map(({ title }) => title);

describe.each(PEERS)('the issue tracker, for %s', (_, connect) => {
  it('lists its tools with their descriptions', async () => {
    const { tracker } = await start();
    const { tools } = await (await signedIn(connect, tracker, 'alice')).listTools();
    const reads = { readOnlyHint: true, idempotentHint: true };
    expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))).toMatchObject({
      list_issues: reads,
      get_issue: reads,
      create_issue: { readOnlyHint: false, idempotentHint: false, destructiveHint: false },
      close_issue: { readOnlyHint: false, idempotentHint: true, destructiveHint: true },
    });
    expect(tools).toHaveLength(4);
  });

  it('keeps the issues of each user apart', async () => {
    const { tracker } = await start();
    const alice = await signedIn(connect, tracker, 'alice');
    const bob = await signedIn(connect, tracker, 'bob');
    const created = await alice.callTool({ name: 'create_issue', arguments: { title: 'Hers' } });
    expect(JSON.parse(created.text)).toMatchObject({ issue: { number: 3, title: 'Hers', state: 'open' } });
    await alice.callTool({ name: 'close_issue', arguments: { number: 1 } });
    const list = (peer: McpPeer) => peer.callTool({ name: 'list_issues' }).then(titlesIn);
    expect(await list(alice)).toEqual(['The export forgets a column', 'Hers']);
    expect(await list(bob)).toEqual(['The login page is slow', 'The export forgets a column']);
    expect(await bob.callTool({ name: 'get_issue', arguments: { number: 3 } })).toEqual({
      text: 'There is no issue #3.',
      isError: true,
    });
    expect(tracker.issuesOf('alice').map(({ state }) => state)).toEqual(['closed', 'open', 'open']);
    expect(tracker.counts()).toMatchObject({
      withoutToken: 0,
      unauthorized: 0,
      tools: { create_issue: 1, close_issue: 1, list_issues: 2, get_issue: 1 },
      executed: { create_issue: 1, close_issue: 1 },
      repeated: 0,
    });
  });

  it('refuses a request without a token, and counts it', async () => {
    const { tracker } = await start();
    await expect(connect(tracker.url, {})).rejects.toBeInstanceOf(Error);
    const { requests, withoutToken, unauthorized, methods } = tracker.counts();
    expect(requests).toBeGreaterThan(0);
    expect([withoutToken, unauthorized]).toEqual([requests, requests]);
    expect(methods).toEqual({});
  });

  it('refuses a wrong token, and a good one once it is revoked', async () => {
    const { tracker, revoke } = await start();
    await expect(connect(tracker.url, { authorization: 'Bearer nonsense' })).rejects.toBeInstanceOf(Error);
    const alice = await signedIn(connect, tracker, 'alice');
    await alice.callTool({ name: 'list_issues' });
    const before = tracker.counts();
    expect(before).toMatchObject({ withoutToken: 0, tools: { list_issues: 1 } });
    revoke('alice');
    await expect(alice.callTool({ name: 'list_issues' })).rejects.toBeInstanceOf(Error);
    const after = tracker.counts();
    expect(after.unauthorized).toBeGreaterThan(before.unauthorized);
    expect(after).toMatchObject({ withoutToken: 0, tools: { list_issues: 1 } });
  });

  it('fails on request, and only then', async () => {
    const { tracker } = await start();
    const alice = await signedIn(connect, tracker, 'alice');
    const list = () => alice.callTool({ name: 'list_issues' });
    tracker.failNext({ kind: 'tool-error', message: 'Out of paper.' });
    expect(await list()).toEqual({ text: 'Out of paper.', isError: true });
    tracker.failNext({ kind: 'huge', characters: 500_000 });
    expect((await list()).text).toHaveLength(500_000);
    for (const fault of [
      { kind: 'rpc-error' },
      { kind: 'status', status: 503 },
      { kind: 'status', status: 401 },
      { kind: 'cut' },
    ] as const) {
      tracker.failNext(fault);
      await expect(list(), fault.kind).rejects.toBeInstanceOf(Error);
    }
    expect(tracker.counts().unauthorized).toBe(1);
    expect(titlesIn(await list())).toHaveLength(2);
  });

  it('hangs until the caller disconnects', async () => {
    const { tracker } = await start();
    const alice = await signedIn(connect, tracker, 'alice');
    tracker.failNext({ kind: 'hang' });
    const leave = new AbortController();
    const call = alice.callTool({ name: 'list_issues' }, leave.signal).catch((error: unknown) => error);
    await waitUntil(() => tracker.counts().tools.list_issues === 1, { what: 'the call' });
    leave.abort();
    expect(await call).toBeInstanceOf(Error);
  });

  it('executes the request and loses the reply', async () => {
    const { tracker } = await start();
    const alice = await signedIn(connect, tracker, 'alice');
    tracker.failNext({ kind: 'lost-reply' }, { tool: 'create_issue', subject: 'alice' });
    const call = { name: 'create_issue', arguments: { title: 'Once' } };
    await expect(alice.callTool(call)).rejects.toBeInstanceOf(Error);
    expect(tracker.executions).toMatchObject([
      { subject: 'alice', tool: 'create_issue', arguments: { title: 'Once' } },
    ]);
    expect(tracker.counts()).toMatchObject({ executed: { create_issue: 1 }, repeated: 0 });
    await alice.callTool(call);
    expect(tracker.counts()).toMatchObject({ executed: { create_issue: 2 }, repeated: 1 });
  });
});

describe('the issue tracker as a protected resource', () => {
  const post = (url: string, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });

  it('refers refused callers to its metadata', async () => {
    const { tracker } = await start({ authorizationServer: 'http://127.0.0.1:9/', scopes: ['issues'] });
    const metadataUrl = tracker.url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp');
    const bare = await post(tracker.url);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer scope="issues", resource_metadata="${metadataUrl}"`,
    ]);
    const wrong = await post(tracker.url, { authorization: 'Bearer nonsense' });
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", scope="issues", resource_metadata="${metadataUrl}"`,
    ]);
    const metadata = {
      resource: tracker.url,
      authorization_servers: ['http://127.0.0.1:9/'],
      scopes_supported: ['issues'],
      bearer_methods_supported: ['header'],
    };
    for (const url of [metadataUrl, metadataUrl.replace(/\/mcp$/, '')])
      expect(await (await fetch(url)).json()).toMatchObject(metadata);
  });

  it.each(['Basic dTpw', 'Bearer', 'Bearer ', 'Bearertoken-of-alice'])(
    'treats "%s" as no token',
    async (authorization) => {
      const { tracker } = await start();
      expect((await post(tracker.url, { authorization })).status).toBe(401);
      expect(tracker.counts()).toMatchObject({ requests: 1, withoutToken: 1 });
    },
  );

  it('demands its scopes, and distinguishes an outage from an invalid token', async () => {
    const authorization = 'Bearer token-of-alice';
    const { tracker } = await start({ scopes: ['issues', 'more'] });
    const short = await post(tracker.url, { authorization });
    expect([short.status, short.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="issues more"'),
    ]);
    const { tracker: alone } = await start({ verify: () => Promise.reject(new Error('away')) });
    expect((await post(alone.url, { authorization })).status).toBe(503);
    expect(alone.counts()).toMatchObject({ requests: 1, withoutToken: 0, unauthorized: 0 });
  });

  it('listens on the given port, and again after a stop', async () => {
    const { tracker: first } = await start();
    await first.stop();
    const { tracker } = await start({ port: Number(new URL(first.url).port) });
    expect(tracker.url).toBe(first.url);
    expect((await post(tracker.url)).status).toBe(401);
  });

  it('accepts callers on this machine, and no pages of other origins', async () => {
    const { tracker } = await start();
    const stranger = { authorization: 'Bearer token-of-alice', origin: 'https://evil.example' };
    expect((await post(tracker.url, stranger)).status).toBe(403);
    expect((await fetch(new URL('/elsewhere', tracker.url))).status).toBe(404);
  });
});

describe.each(PEERS)('the echo tools, for %s', (_, connect) => {
  it('echo for callers with the headers of the project', async () => {
    const echo = await startEchoTools({ headers: { 'x-project-key': 'k1' } });
    cleanups.push(() => echo.stop());
    await expect(connect(echo.url, { 'x-project-key': 'k2' })).rejects.toBeInstanceOf(Error);
    const refused = echo.counts().withoutToken;
    expect(refused).toBeGreaterThan(0);
    const peer = await connect(echo.url, { 'x-project-key': 'k1' });
    cleanups.push(() => peer.close());
    expect(await peer.callTool({ name: 'echo', arguments: { text: 'hi' } })).toEqual({
      text: 'hi',
      isError: false,
    });
    expect(echo.counts()).toMatchObject({ withoutToken: refused, tools: { echo: 1 } });
  });
});
