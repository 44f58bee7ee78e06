import { createServer, type ServerResponse } from 'node:http';
import { LEFT_OUT } from '@parley/shared/domain/json/depth';
import { afterEach, describe, expect, it } from 'vitest';
import type { DropReason } from '../../../services/api/src/agents/mcp/results.ts';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import type { McpServerOptions } from '../../harness/mcp-servers/mcp-servers.ts';
import { bearer, createMcpBench, httpConfig, REVISIONS, toCalls } from '../../harness/mcp-servers/setup.ts';
import { anyTool, everyday } from '../../harness/mcp-servers/tools.ts';
import { paced } from '../../harness/pace.ts';
import { createGate } from '../../harness/vault/gate.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const bench = createMcpBench();
afterEach(bench.close);

/** A server, and a client of a person with a credential. */
async function open(options: McpServerOptions, ...limits: Parameters<typeof bench.client>) {
  const mcp = await bench.server(options);
  const client = bench.client(...limits);
  return { mcp, client, server: client.open(httpConfig(mcp.url), bearer('ada')) };
}

const RESOURCE = 'https://tracker.example/.well-known/oauth-protected-resource';
const CHALLENGE = `Bearer error="invalid_token", scope="issues:read", resource_metadata="${RESOURCE}"`;
const UNAUTHORIZED = {
  type: 'unauthorized',
  status: 401,
  wwwAuthenticate: CHALLENGE,
  resourceMetadataUrl: RESOURCE,
  scope: 'issues:read',
};
const MORE_SCOPES = { 'www-authenticate': 'Bearer error="insufficient_scope", scope="more"' };
const SCOPES_WANTED = { type: 'unauthorized', status: 403, scope: 'more' };
const NOT_SENT = { type: 'unavailable', dispatched: 'no' };
const MAYBE_SENT = { type: 'unavailable', dispatched: 'maybe' };
const EVENTS = { 'content-type': 'text/event-stream' };

const refuse = (reply: ServerResponse) => {
  reply.writeHead(401, { 'www-authenticate': CHALLENGE }).end('{"error":"invalid_token"}');
  return true;
};

describe.each(REVISIONS)('a failing MCP server of the %s revision', (revision) => {
  it.each<[string, NonNullable<McpServerOptions['instead']>, object]>([
    ['answers 401 to every request', (_, reply) => refuse(reply), UNAUTHORIZED],
    ['answers 401 to calls only', toCalls(refuse), UNAUTHORIZED],
    ['wants more scopes', toCalls((reply) => reply.writeHead(403, MORE_SCOPES).end()), SCOPES_WANTED],
    ['forbids', toCalls((reply) => reply.writeHead(403).end()), { type: 'refused' }],
    ['is down before the call is sent', (_, reply) => reply.writeHead(503).end() !== undefined, NOT_SENT],
    [
      'ends the stream without a reply',
      toCalls((reply) => reply.writeHead(200, EVENTS).end('\n')),
      MAYBE_SENT,
    ],
  ])('that %s', async (_what, instead, expected) => {
    const { server } = await open({ revision, instead });
    expect(await server.call('echo', {})).toMatchObject(expected);
  });

  it('that answers 500 with the credential in its text', async () => {
    const instead = toCalls((reply, { headers }) =>
      reply.writeHead(500).end(`failed: ${headers.authorization}`),
    );
    const { mcp, server } = await open({ revision, instead });
    const message = 'The server answered with HTTP status 500.';
    expect(await server.call('echo', {})).toEqual({ ...MAYBE_SENT, message });
    expect(mcp.count('tools/call')).toBe(1);
  });

  it('that crashes while it runs the call', async () => {
    const { mcp, server } = await open({ revision });
    const call = server.call('hang', {});
    await waitUntil(() => mcp.count('tools/call') === 1, { what: 'the call to arrive' });
    await mcp.kill();
    expect(await call).toMatchObject(MAYBE_SENT);
    expect(await server.call('echo', {})).toMatchObject(NOT_SENT);
    expect(mcp.count('tools/call')).toBe(1);
  });

  it.each(['gives', 'has lost'])(
    'that drops the stream, and %s the reply when the stream is resumed',
    async (way) => {
      let id: unknown;
      const instead: McpServerOptions['instead'] = (request, reply) => {
        if (request.rpc === 'tools/call') {
          id = request.id;
          reply.writeHead(200, EVENTS).end('id: event-1\nretry: 1\ndata:\n\n');
          return true;
        }
        if (request.headers['last-event-id'] !== 'event-1') return false;
        const result = { content: [{ type: 'text', text: 'late' }], resultType: 'complete' };
        const message = JSON.stringify({ jsonrpc: '2.0', id, result });
        if (way === 'gives') reply.writeHead(200, EVENTS).end(`id: event-2\ndata: ${message}\n\n`);
        else reply.writeHead(405).end();
        return true;
      };
      const { mcp, server } = await open({ revision, instead });
      const given = { type: 'result', content: [{ text: 'late' }] };
      expect(await server.call('echo', {})).toMatchObject(way === 'gives' ? given : MAYBE_SENT);
      expect(mcp.count('tools/call')).toBe(1);
    },
  );

  it('that hangs, until the timeout or until the caller aborts [T25-14]', async () => {
    const { mcp, server } = await open({ revision });
    await server.listTools();
    const timeout = { type: 'timeout', dispatched: 'maybe' };
    expect(await server.call('hang', {}, { timeoutMs: paced(1_000) })).toEqual(timeout);
    const leaving = new AbortController();
    const call = server.call('hang', {}, { signal: leaving.signal });
    await waitUntil(() => mcp.count('tools/call') === 2, { what: 'the call to arrive' });
    leaving.abort(new Error('the turn was stopped'));
    await expect(call).rejects.toThrow('the turn was stopped');
    await expect(server.call('echo', {}, { signal: leaving.signal })).rejects.toThrow('the turn was stopped');
    expect(mcp.count('tools/call')).toBe(2);
  });

  it('that hangs at the handshake [T25-31]', async () => {
    const { mcp, client, server } = await open({ revision, instead: () => true }, { connectTimeoutMs: 100 });
    const timeout = { type: 'timeout', dispatched: 'no' };
    expect(await server.call('echo', {})).toEqual(timeout);
    await waitUntil(() => mcp.sockets === 0, { what: 'the socket to close' });
    expect(client.connections).toBe(0);
    // A caller with less time does not wait for it, nor is the call made once it is through.
    const slow = bench.client().open(httpConfig(mcp.url));
    expect(await slow.call('echo', {}, { timeoutMs: 50 })).toEqual(timeout);
    for (const rpc of ['tools/call', 'notifications/cancelled']) expect(mcp.count(rpc)).toBe(0);
  });

  it('that redirects the credential to another origin', async () => {
    const calls: (string | undefined)[] = [];
    const other = createServer((request, reply) => {
      calls.push(request.headers.authorization);
      reply.end();
    });
    const location = `http://127.0.0.1:${await listenOnFreePort(other)}/mcp`;
    try {
      const statuses = [302, 307, 308];
      const instead = toCalls((reply) => reply.writeHead(statuses.shift() ?? 0, { location }).end());
      const { server } = await open({ revision, instead });
      const refused = { type: 'refused', message: expect.stringContaining('redirects') };
      while (statuses.length > 0) expect(await server.call('echo', {})).toMatchObject(refused);
      expect(calls).toEqual([]);
    } finally {
      other.close();
    }
  });

  it('that offers too many, too large and invalid tools', async () => {
    const large = { type: 'object', properties: { a: { description: 'x'.repeat(70_000) } } };
    const faulty = [
      anyTool('large', { inputSchema: large }),
      anyTool('no object', {}),
      // The SDK itself refuses the whole of such a list in the new revision.
      ...(revision === 'old' ? [anyTool('odd', { inputSchema: { type: 'string' } })] : []),
      anyTool('tool-0'),
      anyTool('wordy', { description: 'y'.repeat(10_000) }),
      anyTool('who.asks/for:it'),
    ];
    const many = Array.from({ length: 200 }, (_, i) => anyTool(`tool-${i}`));
    const all = [...many.slice(0, 10), ...faulty, ...many.slice(10)];
    const page = (cursor = '0') => {
      const next = Number(cursor) + 50;
      const tools = all.slice(Number(cursor), next);
      return { tools, ...(next < all.length && { nextCursor: `${next}` }) };
    };
    const { server } = await open({ revision, fixture: { ...everyday, list: page } });
    const list = await server.listTools();
    if (list.type !== 'tools') throw new Error(JSON.stringify(list));
    expect(list.tools).toHaveLength(128);
    const droppedFor = (why: DropReason) =>
      list.dropped.filter(({ reason }) => reason === why).map(({ name }) => name);
    expect(droppedFor('schema_too_large')).toEqual(['large']);
    expect(droppedFor('bad_name')).toEqual(['no object']);
    expect(droppedFor('bad_schema')).toEqual(revision === 'old' ? ['odd'] : []);
    expect(droppedFor('same_name')).toEqual(['tool-0']);
    expect(droppedFor('too_many')).toHaveLength(74);
    const toolOf = (wanted: string) => list.tools.find(({ name }) => name === wanted);
    expect(toolOf('wordy')?.description).toHaveLength(4_096);
    expect(toolOf('who.asks/for:it')?.modelName).toMatch(/^tracker__who_asks_for_it_[0-9a-f]{8}$/);
  });

  it('that nests a schema, a result and a message 20,000 levels deep loses these alone [T26-28]', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const frame = (more: string) => `{"jsonrpc":"2.0",${more}}`;
    const results = {
      'tools/list': `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"deep","inputSchema":{"type":"object","properties":${deep}}},{"name":"echo","inputSchema":{"type":"object"},"outputSchema":{"type":"object","a":${deep}}}]}`,
      'tools/call': `{"resultType":"complete","content":[{"type":"text","text":"fine"}],"structuredContent":{"a":${deep},"b":2}}`,
    };
    const { server } = await open({
      revision,
      instead: ({ rpc, id }, reply) => {
        const result = results[rpc as keyof typeof results];
        if (result === undefined) return false;
        const note = `"method":"notifications/message","params":{"level":"info","data":${deep}}`;
        const frames = [frame(note), frame(`"id":${id},"result":${result}`)];
        reply.writeHead(200, EVENTS).end(frames.map((data) => `data: ${data}\n\n`).join(''));
        return true;
      },
    });
    expect(await server.listTools()).toMatchObject({
      tools: [{ name: 'echo' }],
      dropped: [{ name: 'deep', reason: 'schema_too_deep' }],
    });
    const logged: unknown[] = [];
    const result = await server.call('echo', {}, { onLog: ({ data }) => logged.push(data) });
    expect(result).toMatchObject({ type: 'result', structuredContent: { b: 2 } });
    for (const cut of [result, logged]) expect(JSON.stringify(cut)).toContain(LEFT_OUT);
  });

  it('that floods a call with notes is read at a steady pace, and the latest note is not lost though nothing follows [T25-37]', async () => {
    const notes = 20_000;
    const last = createGate();
    const { server } = await open({
      revision,
      instead: toCalls((reply, { id, progressToken }) => {
        const note = (progress: number) => ({
          method: 'notifications/progress',
          params: { progressToken, progress },
        });
        const all = Array.from({ length: notes }, (_, at) => note(at + 1));
        const result = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };
        const frame = (one: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...one })}\n\n`;
        reply.writeHead(200, EVENTS).write(all.map(frame).join(''));
        void last.opened.then(() => reply.end(frame({ id, result })));
      }),
    });
    const got: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => {
      got.push(progress);
      if (progress === notes) last.open();
    };
    const result = await server.call('echo', {}, { onProgress });
    expect(result).toMatchObject({ type: 'result' });
    expect(got.length).toBeLessThan(notes / 10);
    expect([got[0], got.at(-1)]).toEqual([1, notes]);
  });

  it('whose list never ends', async () => {
    let pages = 0;
    const fixture = { ...everyday, list: () => ({ tools: [], nextCursor: `${pages++}` }) };
    const { server } = await open({ revision, fixture });
    expect(await server.listTools()).toMatchObject({ type: 'tools' });
    expect(pages).toBe(100);
  });
});

describe('a failing MCP server', () => {
  it('that is not there', async () => {
    const server = bench.client().open(httpConfig(`http://127.0.0.1:${await freePort()}/mcp`));
    const refused = { type: 'unavailable', message: 'The server refuses connections.', dispatched: 'no' };
    expect(await server.call('echo', {})).toEqual(refused);
    expect(await server.listTools()).toEqual(refused);
  });

  it('that is not an MCP server', async () => {
    const web = createServer((_, reply) => {
      reply.setHeader('content-type', 'text/html').end('<h1>Hello</h1>');
    });
    const url = `http://127.0.0.1:${await listenOnFreePort(web)}/`;
    expect(await bench.client().open(httpConfig(url)).call('echo', {})).toMatchObject({ type: 'refused' });
    web.close();
  });

  it('that drops each session at once is not retried without end', async () => {
    const instead = toCalls((reply) => reply.writeHead(404).end());
    const { mcp, server } = await open({ revision: 'old', instead });
    expect(await server.call('echo', {})).toMatchObject({ type: 'refused' });
    expect(mcp.count('tools/call')).toBe(2);
  });

  it.each([
    [
      'ask the person',
      'new',
      async () => ({ resultType: 'input_required', inputRequests: {}, requestState: 'x' }),
    ],
    [
      'have them open a page',
      'old',
      async () => {
        const elicitations = [{ mode: 'url', message: 'm', url: 'https://example.com', elicitationId: 'e' }];
        throw Object.assign(new Error('open it'), { code: -32042, data: { elicitations } });
      },
    ],
  ] as const)('that wants to %s where nobody can be asked', async (_what, revision, call) => {
    const { server } = await open({ revision, fixture: { ...everyday, call } });
    expect(await server.call('echo', {})).toMatchObject({ type: 'input_required' });
  });

  it('of the new revision that wants arguments in headers [T26-23]', async () => {
    const schemaOf = (name: string, type: string, header: string) => ({
      inputSchema: { type: 'object', properties: { [name]: { type, 'x-mcp-header': header } } },
    });
    const tools = [
      anyTool('echo', schemaOf('region', 'string', 'Region')),
      anyTool('unfair', schemaOf('a', 'array', 'A')),
    ];
    const mcp = await bench.server({ revision: 'new', fixture: { ...everyday, list: () => ({ tools }) } });
    const server = bench.client().open(httpConfig(mcp.url));
    expect(await server.listTools()).toMatchObject({ dropped: [{ name: 'unfair', reason: 'bad_schema' }] });
    const headers = { traceparent: '00-a-b-01', authorization: 'x' };
    await server.call('echo', { region: 'eu' }, { headers });
    const call = mcp.seen.find(({ rpc }) => rpc === 'tools/call');
    expect(call?.headers).toMatchObject({ 'mcp-param-region': 'eu', traceparent: '00-a-b-01' });
    expect(call?.headers.authorization).toBeUndefined();
  });

  it('of the new revision that reports a header mismatch is asked for its tools, and called once more [T26-25]', async () => {
    const inputSchema = { type: 'object', properties: { text: { type: 'string', 'x-mcp-header': 'Text' } } };
    const mcp = await bench.server({
      revision: 'new',
      fixture: { ...everyday, list: () => ({ tools: [anyTool('echo', { inputSchema })] }) },
      instead: ({ rpc, headers, id }, reply) => {
        if (rpc !== 'tools/call' || headers['mcp-param-text'] !== undefined) return false;
        const error = { code: -32020, message: 'header mismatch' };
        reply.writeHead(400, { 'content-type': 'application/json' });
        reply.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
        return true;
      },
    });
    const server = bench.client().open(httpConfig(mcp.url));
    expect(await server.call('echo', { text: 'a' })).toMatchObject({ type: 'result', isError: false });
    expect(await server.call('echo', {})).toMatchObject({
      type: 'refused',
      refusal: { code: -32020, message: 'header mismatch' },
    });
    expect(mcp.count('tools/call')).toBe(4);
  });
});
