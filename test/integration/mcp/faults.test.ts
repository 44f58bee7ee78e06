import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { DropReason } from '../../../services/api/src/agents/mcp/calls/results.ts';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import type { Revision } from '../../harness/mcp-servers/mcp-servers.ts';
import { bearer, createMcpBench, httpConfig } from '../../harness/mcp-servers/setup.ts';
import { anyTool, everyday } from '../../harness/mcp-servers/tools.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const bench = createMcpBench();
afterEach(bench.close);

const REVISIONS: readonly Revision[] = ['new', 'old'];
const CHALLENGE =
  'Bearer error="invalid_token", scope="issues:read", resource_metadata="https://tracker.example/.well-known/oauth-protected-resource"';

describe.each(REVISIONS)('a failing MCP server of the %s revision', (revision) => {
  it.each(['every request', 'calls only'])('that answers 401 to %s', async (which) => {
    const { url } = await bench.server({
      revision,
      instead: ({ rpc }, reply) => {
        if (which === 'calls only' && rpc !== 'tools/call') return false;
        reply.writeHead(401, { 'www-authenticate': CHALLENGE }).end('{"error":"invalid_token"}');
        return true;
      },
    });
    const result = await bench.client().open(httpConfig(url), bearer('ada')).call('echo', {});
    expect(result).toEqual({
      type: 'unauthorized',
      status: 401,
      wwwAuthenticate: CHALLENGE,
      resourceMetadataUrl: 'https://tracker.example/.well-known/oauth-protected-resource',
      scope: 'issues:read',
    });
  });

  it('that wants more scopes, or forbids', async () => {
    let header: Record<string, string> = {
      'www-authenticate': 'Bearer error="insufficient_scope", scope="more"',
    };
    const { url } = await bench.server({
      revision,
      instead: ({ rpc }, reply) => {
        if (rpc !== 'tools/call') return false;
        reply.writeHead(403, header).end();
        return true;
      },
    });
    const server = bench.client().open(httpConfig(url), bearer('ada'));
    expect(await server.call('echo', {})).toMatchObject({ type: 'unauthorized', status: 403, scope: 'more' });
    header = {};
    expect(await server.call('echo', {})).toMatchObject({ type: 'refused' });
  });

  it('that answers 500 with the credential in its text', async () => {
    const mcp = await bench.server({
      revision,
      instead: ({ rpc, headers }, reply) => {
        if (rpc !== 'tools/call') return false;
        reply.writeHead(500).end(`failed: ${headers.authorization}`);
        return true;
      },
    });
    const result = await bench.client().open(httpConfig(mcp.url), bearer('ada')).call('echo', {});
    expect(result).toEqual({
      type: 'unavailable',
      message: 'The server answered with HTTP status 500.',
      dispatched: 'maybe',
    });
    expect(mcp.count('tools/call')).toBe(1);
  });

  it('that is down before the call is sent', async () => {
    const { url } = await bench.server({
      revision,
      instead: (_, reply) => {
        reply.writeHead(503).end();
        return true;
      },
    });
    expect(await bench.client().open(httpConfig(url)).call('echo', {})).toMatchObject({
      type: 'unavailable',
      dispatched: 'no',
    });
  });

  it('that crashes while it runs the call', async () => {
    const mcp = await bench.server({ revision });
    const server = bench.client().open(httpConfig(mcp.url));
    const call = server.call('hang', {});
    await waitUntil(() => mcp.count('tools/call') === 1, { what: 'the call to arrive' });
    await mcp.kill();
    expect(await call).toMatchObject({ type: 'unavailable', dispatched: 'maybe' });
    expect(await server.call('echo', {})).toMatchObject({ type: 'unavailable', dispatched: 'no' });
    expect(mcp.count('tools/call')).toBe(1);
  });

  it('that ends the stream without a reply', async () => {
    const { url } = await bench.server({
      revision,
      instead: ({ rpc }, reply) => {
        if (rpc !== 'tools/call') return false;
        reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n');
        return true;
      },
    });
    expect(await bench.client().open(httpConfig(url)).call('echo', {})).toMatchObject({
      type: 'unavailable',
      dispatched: 'maybe',
    });
  });

  it.each(['gives', 'has lost'])(
    'that drops the stream, and %s the reply when the stream is resumed',
    async (way) => {
      let id: unknown;
      const mcp = await bench.server({
        revision,
        instead: (request, reply) => {
          const events = { 'content-type': 'text/event-stream' };
          if (request.rpc === 'tools/call') {
            id = request.id;
            reply.writeHead(200, events).end('id: event-1\nretry: 1\ndata:\n\n');
            return true;
          }
          if (request.headers['last-event-id'] !== 'event-1') return false;
          const result = { content: [{ type: 'text', text: 'late' }], resultType: 'complete' };
          const message = JSON.stringify({ jsonrpc: '2.0', id, result });
          if (way === 'gives') reply.writeHead(200, events).end(`id: event-2\ndata: ${message}\n\n`);
          else reply.writeHead(405).end();
          return true;
        },
      });
      const result = await bench.client().open(httpConfig(mcp.url)).call('echo', {});
      if (way === 'gives') expect(result).toMatchObject({ type: 'result', content: [{ text: 'late' }] });
      else expect(result).toMatchObject({ type: 'unavailable', dispatched: 'maybe' });
      expect(mcp.count('tools/call')).toBe(1);
    },
  );

  it('that hangs, until the timeout or until the caller aborts [T25-14]', async () => {
    const mcp = await bench.server({ revision });
    const server = bench.client().open(httpConfig(mcp.url));
    await server.listTools();
    expect(await server.call('hang', {}, { timeoutMs: 1_000 })).toEqual({
      type: 'timeout',
      dispatched: 'maybe',
    });
    const leaving = new AbortController();
    const call = server.call('hang', {}, { signal: leaving.signal });
    await waitUntil(() => mcp.count('tools/call') === 2, { what: 'the call to arrive' });
    leaving.abort(new Error('the turn was stopped'));
    await expect(call).rejects.toThrow('the turn was stopped');
    await expect(server.call('echo', {}, { signal: leaving.signal })).rejects.toThrow('the turn was stopped');
    expect(mcp.count('tools/call')).toBe(2);
  });

  it('that hangs at the handshake', async () => {
    const mcp = await bench.server({ revision, instead: () => true });
    const client = bench.client({ connectTimeoutMs: 100 });
    expect(await client.open(httpConfig(mcp.url)).call('echo', {})).toEqual({
      type: 'timeout',
      dispatched: 'no',
    });
    await waitUntil(() => mcp.sockets === 0, { what: 'the socket to close' });
    expect(client.connections).toBe(0);
    // A caller with less time does not wait for it, nor is the call made once it is through.
    const slow = bench.client().open(httpConfig(mcp.url));
    expect(await slow.call('echo', {}, { timeoutMs: 50 })).toEqual({ type: 'timeout', dispatched: 'no' });
    expect(mcp.count('tools/call')).toBe(0);
  });

  it('that redirects the credential to another origin', async () => {
    const calls: (string | undefined)[] = [];
    const other = createServer((request, reply) => {
      calls.push(request.headers.authorization);
      reply.end();
    });
    const port = await listenOnFreePort(other);
    try {
      for (const status of [302, 307, 308]) {
        const { url } = await bench.server({
          revision,
          instead: ({ rpc }, reply) => {
            if (rpc !== 'tools/call') return false;
            reply.writeHead(status, { location: `http://127.0.0.1:${port}/mcp` }).end();
            return true;
          },
        });
        const result = await bench.client().open(httpConfig(url), bearer('ada')).call('echo', {});
        expect(result).toMatchObject({ type: 'refused', message: expect.stringContaining('redirects') });
      }
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
    const { url } = await bench.server({
      revision,
      fixture: {
        ...everyday,
        list: (cursor = '0') => {
          const from = Number(cursor);
          const next = from + 50;
          return { tools: all.slice(from, next), ...(next < all.length && { nextCursor: `${next}` }) };
        },
      },
    });
    const list = await bench.client().open(httpConfig(url)).listTools();
    if (list.type !== 'tools') throw new Error(JSON.stringify(list));
    expect(list.tools).toHaveLength(128);
    const droppedFor = (why: DropReason) =>
      list.dropped.filter(({ reason }) => reason === why).map(({ name }) => name);
    expect(droppedFor('schema_too_large')).toEqual(['large']);
    expect(droppedFor('bad_name')).toEqual(['no object']);
    expect(droppedFor('bad_schema')).toEqual(revision === 'old' ? ['odd'] : []);
    expect(droppedFor('same_name')).toEqual(['tool-0']);
    expect(droppedFor('too_many')).toHaveLength(74);
    const wordy = list.tools.find(({ name }) => name === 'wordy');
    expect(wordy?.description).toHaveLength(4_096);
    expect(list.tools.find(({ name }) => name === 'who.asks/for:it')?.modelName).toMatch(
      /^tracker__who_asks_for_it_[0-9a-f]{8}$/,
    );
  });

  it('whose list never ends', async () => {
    let pages = 0;
    const { url } = await bench.server({
      revision,
      fixture: { ...everyday, list: () => ({ tools: [], nextCursor: `${pages++}` }) },
    });
    expect(await bench.client().open(httpConfig(url)).listTools()).toMatchObject({ type: 'tools' });
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
    const web = createServer((_, reply) =>
      reply.setHeader('content-type', 'text/html').end('<h1>Hello</h1>'),
    );
    const port = await listenOnFreePort(web);
    const result = await bench
      .client()
      .open(httpConfig(`http://127.0.0.1:${port}/`))
      .call('echo', {});
    expect(result).toMatchObject({ type: 'refused' });
    web.close();
  });

  it('that drops each session at once is not retried without end', async () => {
    const mcp = await bench.server({
      revision: 'old',
      instead: ({ rpc }, reply) => {
        if (rpc !== 'tools/call') return false;
        reply.writeHead(404).end();
        return true;
      },
    });
    expect(await bench.client().open(httpConfig(mcp.url)).call('echo', {})).toMatchObject({
      type: 'refused',
    });
    expect(mcp.count('tools/call')).toBe(2);
  });

  it('of the new revision that wants to ask the person', async () => {
    const { url } = await bench.server({
      revision: 'new',
      fixture: {
        ...everyday,
        call: async () => ({
          resultType: 'input_required',
          inputRequests: {},
          requestState: 'opaque',
        }),
      },
    });
    expect(await bench.client().open(httpConfig(url)).call('echo', {})).toMatchObject({
      type: 'input_required',
    });
  });

  it('of the old revision that wants the person to open a page', async () => {
    const { url } = await bench.server({
      revision: 'old',
      fixture: {
        ...everyday,
        call: async () => {
          const elicitations = [
            { mode: 'url', message: 'm', url: 'https://example.com', elicitationId: 'e' },
          ];
          throw Object.assign(new Error('open it'), { code: -32042, data: { elicitations } });
        },
      },
    });
    expect(await bench.client().open(httpConfig(url)).call('echo', {})).toMatchObject({
      type: 'input_required',
    });
  });

  it('of the new revision that wants arguments in headers', async () => {
    const inputSchema = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    };
    const unfair = { type: 'object', properties: { a: { type: 'array', 'x-mcp-header': 'A' } } };
    const mcp = await bench.server({
      revision: 'new',
      fixture: {
        ...everyday,
        list: () => ({
          tools: [anyTool('echo', { inputSchema }), anyTool('unfair', { inputSchema: unfair })],
        }),
      },
    });
    const server = bench.client().open(httpConfig(mcp.url));
    const list = await server.listTools();
    expect(list).toMatchObject({ dropped: [{ name: 'unfair', reason: 'bad_schema' }] });
    await server.call(
      'echo',
      { region: 'eu' },
      { headers: { traceparent: '00-a-b-01', authorization: 'x' } },
    );
    const call = mcp.seen.find(({ rpc }) => rpc === 'tools/call');
    expect(call?.headers).toMatchObject({ 'mcp-param-region': 'eu', traceparent: '00-a-b-01' });
    expect(call?.headers.authorization).toBeUndefined();
  });

  it('of the new revision that reports a header mismatch is asked for its tools, and called once more', async () => {
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
    expect(await server.call('echo', {})).toMatchObject({ type: 'refused', code: -32020 });
    expect(mcp.count('tools/call')).toBe(4);
  });
});
