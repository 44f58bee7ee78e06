import { afterEach, describe, expect, it } from 'vitest';
import type { McpServerOptions } from '../../harness/mcp-servers/mcp-servers.ts';
import {
  bearer,
  createMcpBench,
  httpConfig,
  REVISIONS,
  saidIn as said,
  toCalls,
} from '../../harness/mcp-servers/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const bench = createMcpBench();
afterEach(bench.close);

describe.each(REVISIONS)('an MCP server of the %s revision over HTTP', (revision) => {
  it('lists tools with their annotations, and with the most cautious defaults for missing ones', async () => {
    const { url } = await bench.server({ revision });
    const list = await bench.client().open(httpConfig(url)).listTools();
    if (list.type !== 'tools') throw new Error(list.type);
    expect(list.tools[0]).toEqual({
      name: 'echo',
      modelName: 'tracker__echo',
      title: 'Echo',
      description: 'The tool echo.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      hints: { readOnlyHint: true, destructiveHint: true, idempotentHint: true, openWorldHint: true },
      visibility: { model: true, app: true },
    });
    expect(list.tools[1]?.hints).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    });
    expect(list.dropped).toEqual([]);
  });

  it('calls tools and distinguishes results, failures, progress and refusals', async () => {
    const { url } = await bench.server({ revision });
    const server = bench.client().open(httpConfig(url));
    expect(await server.call('echo', { text: 'hello' })).toEqual({
      type: 'result',
      content: [{ type: 'text', text: 'hello' }],
      structuredContent: { echoed: 'hello' },
      isError: false,
    });
    expect(await server.call('fail', {})).toMatchObject({ type: 'result', isError: true });
    expect(await server.call('unknown-to-itself', {})).toMatchObject({
      type: 'refused',
      message: expect.stringContaining('no tool unknown-to-itself'),
    });
    const seen: number[] = [];
    await server.call('steps', {}, { onProgress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2]);
  });

  it('gets no id of a request twice, whichever pods continue its calls [T25-30 T25-31 T26-26]', async () => {
    const mcp = await bench.server({ revision });
    for (const pod of [bench.client(), bench.client(), bench.client()]) {
      const server = pod.open(httpConfig(mcp.url));
      expect(await server.call('echo', { text: 'a' })).toMatchObject({ isError: false });
      const stopped = new AbortController();
      const hanging = server.call('hang', {}, { signal: stopped.signal }).catch(() => undefined);
      await waitUntil(() => mcp.seen.at(-1)?.tool === 'hang', { what: 'the call' });
      stopped.abort();
      await hanging;
    }
    const calls = mcp.seen.filter(({ tool }) => tool !== undefined).map(({ id }) => id);
    expect([calls.length, new Set(calls).size]).toEqual([6, 6]);
    if (revision === 'new') return;
    // A cancellation names the request as the server knows it.
    await waitUntil(() => mcp.count('notifications/cancelled') === 3, { what: 'the cancellations' });
    const hung = mcp.seen.filter(({ tool }) => tool === 'hang').map(({ id }) => id);
    expect(mcp.seen.flatMap(({ cancels }) => cancels ?? [])).toEqual(hung);
  });

  it('passes what the server logs about a call to that call alone, without the credential', async () => {
    const { url } = await bench.server({ revision });
    const credential = { key: 'ada', headers: { authorization: 'Bearer a-token-of-ada' } };
    const server = bench.client().open(httpConfig(url), credential);
    const [one, other]: [unknown[], unknown[]] = [[], []];
    await Promise.all([
      server.call('steps', {}, { onLog: (message) => one.push(message) }),
      server.call('echo', { text: 'hello' }, { onLog: (message) => other.push(message) }),
      server.call('steps', {}),
    ]);
    expect(one).toEqual([{ level: 'info', data: expect.stringMatching(/^done for /) }]);
    expect(JSON.stringify(one)).not.toContain('a-token-of-ada');
    expect(other).toEqual([]);
  });

  it('shakes hands once, declares no elicitation, and asks for the list once [T25-29]', async () => {
    const mcp = await bench.server({ revision });
    const client = bench.client();
    const server = client.open(httpConfig(mcp.url));
    await Promise.all(Array.from({ length: 20 }, () => server.listTools()));
    await Promise.all(Array.from({ length: 20 }, (_, i) => server.call('echo', { text: `${i}` })));
    expect(mcp.count('server/discover')).toBe(revision === 'old' ? 0 : 1);
    expect(mcp.count('initialize')).toBe(1);
    expect(mcp.count('tools/list')).toBe(1);
    expect(mcp.count('tools/call')).toBe(20);
    expect(mcp.count('notifications/initialized')).toBe(revision === 'old' ? 1 : 0);
    expect(client.connections).toBe(1);
  });

  it('requests the list again when the server reports a change', async () => {
    const mcp = await bench.server({ revision });
    const server = bench.client().open(httpConfig(mcp.url));
    await server.listTools();
    // Only a client that listens is notified.
    const isListening = () =>
      mcp.seen.some(({ rpc, method }) => rpc === 'subscriptions/listen' || method === 'GET');
    await waitUntil(isListening, { what: 'the client to listen' });
    await waitUntil(
      async () => {
        await mcp.toolsChanged();
        await server.listTools();
        return mcp.count('tools/list') > 1;
      },
      { what: 'a second request for the list' },
    );
  });

  it('never mixes the headers of two users under concurrent calls', async () => {
    const mcp = await bench.server({ revision });
    const client = bench.client();
    const config = httpConfig(mcp.url, { 'X-Project': 'the-project-key' });
    const users = ['ada', 'bob'];
    const calls = Array.from({ length: 50 }, (_, i) => users[i % 2] ?? '');
    const results = await Promise.all(
      calls.map(async (user) => said(await client.open(config, bearer(user)).call('whoami', {}))),
    );
    // The token itself is taken out of what comes back, so the server's own record is the witness.
    expect(new Set(results)).toEqual(new Set(['[redacted]']));
    const sent = mcp.seen
      .filter(({ rpc }) => rpc === 'tools/call')
      .map(({ headers }) => headers.authorization);
    for (const user of users)
      expect(sent.filter((value) => value === `Bearer token-of-${user}`)).toHaveLength(25);
    expect(mcp.seen.every(({ headers }) => headers['x-project'] === 'the-project-key')).toBe(true);
    expect(client.connections).toBe(2);
    const sessionsOf = (user: string) =>
      new Set(
        mcp.seen
          .filter(({ headers, rpc }) => rpc === 'tools/call' && headers.authorization?.endsWith(user))
          .map(({ headers }) => headers['mcp-session-id']),
      );
    if (revision === 'old') expect(sessionsOf('ada')).not.toEqual(sessionsOf('bob'));
  });

  it('keeps headers apart even under one key, and uses the new ones after a rebuild', async () => {
    const mcp = await bench.server({ revision });
    const client = bench.client();
    const config = httpConfig(mcp.url);
    const before = client.open(config, bearer('ada'));
    const other = client.open(config, bearer('ada', 'second-token'));
    await Promise.all([before.call('whoami', {}), other.call('whoami', {})]);
    before.rebuild({ Authorization: 'Bearer third-token' });
    await before.call('whoami', {});
    const sent = mcp.seen
      .filter(({ rpc }) => rpc === 'tools/call')
      .map(({ headers }) => headers.authorization);
    expect(sent.sort()).toEqual(['Bearer second-token', 'Bearer third-token', 'Bearer token-of-ada']);
    await waitUntil(() => client.connections === 1, { what: 'the old connections to close' });
    if (revision === 'old') await waitUntil(() => mcp.sessions === 1, { what: 'their sessions to end' });
  });

  it('describes images and links, and drops results that are too large', async () => {
    const { url } = await bench.server({ revision });
    const client = bench.client({ resultBytesMax: 10_000, messageBytesMax: 100_000 });
    const server = client.open(httpConfig(url));
    expect(said(await server.call('picture', {}))).toBe(
      'Here:\n[image, image/png, 3000 bytes]\n[link: a page, https://example.com/a]',
    );
    for (const bytes of [20_000, 1_000_000]) {
      expect(await server.call('big', { bytes })).toMatchObject({
        type: 'result',
        isError: true,
        content: [{ text: expect.stringContaining('larger than 10000 bytes') }],
      });
    }
    expect(said(await server.call('echo', { text: 'still there' }))).toBe('still there');
  });

  it('closes all sockets and sessions, even with calls under way [T25-25]', async () => {
    const mcp = await bench.server({ revision });
    const client = bench.client();
    const server = client.open(httpConfig(mcp.url));
    await server.listTools();
    const hanging = server.call('hang', {});
    await waitUntil(() => mcp.count('tools/call') === 1, { what: 'the call to arrive' });
    await client.close();
    expect(await hanging).toMatchObject({ type: 'unavailable', dispatched: 'maybe' });
    await waitUntil(() => mcp.sockets === 0 && mcp.sessions === 0, { what: 'the sockets to close' });
    expect(client.connections).toBe(0);
    expect(await server.call('echo', {})).toMatchObject({ type: 'unavailable', dispatched: 'no' });
  });
});

describe('the list of tools', () => {
  it('is still fetched for the other callers when one of them aborts', async () => {
    const mcp = await bench.server({ revision: 'new' });
    const server = bench.client().open(httpConfig(mcp.url));
    const leaving = new AbortController();
    const [left, stayed] = [server.listTools({ signal: leaving.signal }), server.listTools()];
    leaving.abort(new Error('stopped'));
    await expect(left).rejects.toThrow('stopped');
    expect(await stayed).toMatchObject({ type: 'tools' });
    expect(mcp.count('tools/list')).toBe(1);
  });

  it('is cached per credential, and requested again after a while [T26-21]', async () => {
    const mcp = await bench.server({ revision: 'new' });
    const client = bench.client({ toolsTtlMs: 50 });
    const ada = client.open(httpConfig(mcp.url), bearer('ada'));
    await ada.listTools();
    await client.open(httpConfig(mcp.url), bearer('bob')).listTools();
    expect(mcp.count('tools/list')).toBe(2);
    await waitUntil(async () => (await ada.listTools()) && mcp.count('tools/list') > 2, {
      what: 'another fetch',
    });
  });
});

describe('the connections', () => {
  it('are closed when idle, and the least recently used one is closed when there are too many', async () => {
    const mcp = await bench.server({ revision: 'old' });
    const few = bench.client({ connectionsMax: 2 });
    for (const user of ['ada', 'bob', 'cyd'])
      await few.open(httpConfig(mcp.url), bearer(user)).call('echo', {});
    await waitUntil(() => few.connections === 2, { what: 'the oldest connection to close' });
    await few.open(httpConfig(mcp.url), bearer('cyd')).call('echo', {});
    expect(mcp.count('initialize')).toBe(3);
    const idle = bench.client({ idleMs: 20 });
    await idle.open(httpConfig(mcp.url)).call('echo', {});
    await waitUntil(() => idle.connections === 0, { what: 'the idle connection to close' });
  });

  it.each([400, 409, 410, 422, 500, 502, 503])(
    'are opened again after %s to a call and to a ping, and a call that may have had its effect is not repeated',
    async (status) => {
      let isLost = false;
      const instead: McpServerOptions['instead'] = ({ rpc, headers }, reply) => {
        if (!isLost || rpc === 'initialize' || headers['mcp-session-id'] !== lost()) return false;
        reply.writeHead(status).end('It failed.');
        return true;
      };
      const mcp = await bench.server({ revision: 'old', instead });
      const lost = () => mcp.seen.find(({ rpc }) => rpc === 'tools/list')?.headers['mcp-session-id'];
      const server = bench.client().open(httpConfig(mcp.url));
      await server.listTools();
      isLost = true;
      const failed = await Promise.all([server.call('whoami', {}), server.call('whoami', {})]);
      for (const failure of failed)
        expect(failure).toMatchObject({ dispatched: 'maybe', message: expect.stringContaining('session') });
      const counts = () => ['initialize', 'tools/call', 'ping'].map(mcp.count);
      expect(counts()).toEqual([1, 2, 1]);
      expect(said(await server.call('whoami', {}))).toBe('nobody');
      expect(counts()).toEqual([2, 3, 1]);
    },
  );

  it('are opened again for a read-only call that a lost session may have executed', async () => {
    const mcp = await bench.server({ revision: 'old', unknownSession: 503 });
    const server = bench.client().open(httpConfig(mcp.url));
    await server.listTools();
    mcp.forgetSessions();
    expect(said(await server.call('echo', { text: 'two' }))).toBe('two');
    expect(['initialize', 'tools/call', 'ping'].map(mcp.count)).toEqual([2, 2, 1]);
  });

  it.each([400, 409, 422, 500, 503])(
    'stay open when calls fail with %s and a ping does not',
    async (status) => {
      const instead = toCalls((reply) => reply.writeHead(status).end('It failed.'));
      const mcp = await bench.server({ revision: 'old', instead });
      const server = bench.client().open(httpConfig(mcp.url));
      for (const _ of [1, 2, 3])
        expect(await server.call('echo', {})).toMatchObject({
          message: expect.stringContaining(`${status}`),
        });
      expect(['initialize', 'tools/call'].map(mcp.count)).toEqual([1, 3]);
    },
  );

  it.each([400, 404, 409, 410, 422])(
    'are opened again, once, when the server dropped the session and says %s [T25-13]',
    async (unknownSession) => {
      const mcp = await bench.server({ revision: 'old', unknownSession });
      const server = bench.client().open(httpConfig(mcp.url));
      await server.call('echo', { text: 'one' });
      mcp.forgetSessions();
      const results = await Promise.all([
        server.call('echo', { text: 'two' }),
        server.call('echo', { text: 'three' }),
      ]);
      expect(results.map(said)).toEqual(['two', 'three']);
      expect(mcp.count('initialize')).toBe(2);
    },
  );
});
