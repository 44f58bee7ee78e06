import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import {
  createRoundRobin,
  pickFetch,
  type RoundRobin,
  type RoundRobinOptions,
} from '../../harness/http/round-robin.ts';
import { startProcess } from '../../harness/processes/processes.ts';
import { waitUntil } from '../../harness/wait-until.ts';

vi.setConfig({ testTimeout: 60_000 });

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function pod(handler: RequestListener): Promise<string> {
  const server: Server = createServer((incoming, outgoing) => {
    if (incoming.url === '/readyz') outgoing.end('ok');
    else handler(incoming, outgoing);
  });
  const port = await listenOnFreePort(server);
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${port}`;
}

async function balance(
  targets: RoundRobinOptions['targets'],
  more?: Partial<RoundRobinOptions>,
): Promise<RoundRobin> {
  const balancer = await createRoundRobin({ targets, healthTimeoutMs: 10_000, ...more });
  cleanups.push(() => balancer.close());
  return balancer;
}

const echo: RequestListener = async (incoming, outgoing) => {
  outgoing.setHeader(
    'x-seen',
    JSON.stringify([incoming.method, incoming.url, incoming.headersDistinct['x-twice']]),
  );
  outgoing.setHeader('set-cookie', ['a=1', 'b=2']);
  outgoing.end(await text(incoming));
};
const names = async (balancer: RoundRobin, count: number) => {
  const seen: (string | null)[] = [];
  for (let i = 0; i < count; i++) {
    const response = await fetch(`${balancer.url}/x`, {
      method: 'POST',
      body: `${i}`,
      signal: AbortSignal.timeout(10_000),
    });
    expect([response.status, await response.text()]).toEqual([200, `${i}`]);
    seen.push(response.headers.get('x-parley-upstream'));
  }
  return seen;
};

describe('createRoundRobin', () => {
  it('gives requests to each pod in turn, by index or by name', async () => {
    const [a, b, c] = [await pod(echo), await pod(echo), await pod(echo)];
    const balancer = await balance([a, b, { name: 'third', url: c }]);
    expect(await names(balancer, 6)).toEqual(['0', '1', 'third', '0', '1', 'third']);
    expect(balancer.lastPod()).toBe('third');
    await balancer.setTargets([{ name: 'only', url: b }]);
    expect(await names(balancer, 2)).toEqual(['only', 'only']);
  });

  it('passes method, path, repeated headers, status and large bodies both ways', async () => {
    const balancer = await balance([await pod(echo)]);
    const body = 'x'.repeat(5_000_000);
    const sent = request({
      ...{ host: '127.0.0.1', port: balancer.port, method: 'PUT', path: '/a%2Fb/..?q=%20' },
      headers: { 'x-twice': ['1', '2'] },
    });
    const answered = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
    sent.end(body);
    const answer = await answered;
    expect(JSON.parse(String(answer.headers['x-seen']))).toEqual(['PUT', '/a%2Fb/..?q=%20', ['1', '2']]);
    expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(await text(answer)).toBe(body);
  });

  it('forwards every server-sent event as it arrives', async () => {
    let send: (event: string) => void = () => undefined;
    const sse = await pod((_, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.flushHeaders();
      send = (event) => outgoing.write(`data: ${event}\n\n`);
    });
    const balancer = await balance([sse]);
    const leave = new AbortController();
    // Resolves before the first event: the headers are not held back.
    const response = await fetch(`${balancer.url}/events`, { signal: leave.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (const event of ['one', 'two', 'three']) {
      send(event);
      expect((await reader?.read())?.value).toBe(`data: ${event}\n\n`);
    }
    leave.abort();
  });

  it('closes upstream when the client disconnects, and breaks off when the pod does', async () => {
    let open = 0;
    let breakOff: () => void = () => undefined;
    const sse = await pod((_, outgoing) => {
      open += 1;
      outgoing.on('close', () => {
        open -= 1;
      });
      outgoing.write('data: hello\n\n');
      breakOff = () => outgoing.destroy();
    });
    const balancer = await balance([sse]);
    const leave = new AbortController();
    await fetch(balancer.url, { signal: leave.signal });
    expect(open).toBe(1);
    leave.abort();
    await waitUntil(() => open === 0, { what: 'the pod to see that the client left' });
    const response = await fetch(balancer.url);
    breakOff();
    await expect(response.text()).rejects.toThrow();
  });

  it('skips a dead pod without losing a request, before and after the health check fails', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const alive = await pod(echo);
    const unchecked = await balance([dead, alive], { healthPath: false });
    expect(await names(unchecked, 4)).toEqual(['1', '1', '1', '1']);
    const none = await balance([dead]);
    expect((await fetch(none.url)).status).toBe(503);
  });

  it('never sends a POST twice', async () => {
    let received = 0;
    const dying: RequestListener = (incoming) => {
      received += 1;
      incoming.socket.resetAndDestroy();
    };
    const balancer = await balance([await pod(dying), await pod(dying)]);
    expect((await fetch(balancer.url, { method: 'POST', body: 'once' })).status).toBe(502);
    expect(received).toBe(1);
  });

  it('removes a frozen pod and adds it again', async () => {
    const start = () =>
      startProcess({
        name: 'pod',
        entry: 'test/harness/fixtures/echo-pod.ts',
        readyWhen: (line) => line.listening === true,
      });
    const [frozen, other] = [await start(), await start()];
    cleanups.push(
      () => frozen.stop(),
      () => other.stop(),
    );
    const urls = [frozen, other].map((each) => `http://127.0.0.1:${Number(each.ready.port)}`);
    const balancer = await balance(urls, { healthIntervalMs: 100, healthTimeoutMs: 5_000 });
    const reached = async () => {
      const asked = Array.from({ length: 4 }, () =>
        fetch(balancer.url, { signal: AbortSignal.timeout(300) }).then((response) =>
          response.headers.get('x-parley-upstream'),
        ),
      );
      return new Set(await Promise.all(asked));
    };
    await waitUntil(async () => (await reached()).size === 2, { what: 'both to be in' });
    frozen.freeze();
    await waitUntil(async () => (await reached()).size === 1, { what: 'the frozen pod to be out' });
    // While a check of the other is late, too, the frozen one is tried.
    await waitUntil(async () => (await names(balancer, 6)).every((name) => name === '1'), {
      what: 'only the other to be reached',
    });
    frozen.thaw();
    await waitUntil(async () => (await reached()).size === 2, { what: 'the pod to be back' });
  });

  it('forwards only the received part of a half-sent request', async () => {
    const bodies: string[] = [];
    const ended: boolean[] = [];
    const balancer = await balance([
      await pod((incoming) => {
        incoming.setEncoding('utf8').on('data', (part: string) => bodies.push(part));
        incoming.on('close', () => ended.push(incoming.complete));
      }),
    ]);
    const socket = connect(balancer.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf');
    await waitUntil(() => bodies.join('') === 'half', { what: 'the first half to arrive' });
    socket.destroy();
    await waitUntil(() => ended.length === 1, { what: 'the pod to see the end' });
    expect(ended).toEqual([false]);
  });
});

describe('pickFetch', () => {
  it('sends each request to some pod, the same ones for the same seed', async () => {
    const [a, b] = [
      await pod((_, outgoing) => outgoing.end('a')),
      await pod((_, outgoing) => outgoing.end('b')),
    ];
    const draw = async (seed: number) => {
      const pick = pickFetch([a, b], seed);
      const drawn: string[] = [];
      for (let i = 0; i < 16; i++) drawn.push(await (await pick('http://anywhere.test/path?q=1')).text());
      return drawn.join('');
    };
    const first = await draw(1);
    expect(first).toMatch(/a.*b|b.*a/);
    expect(await draw(1)).toBe(first);
    expect(await draw(2)).not.toBe(first);
  });

  it('accepts a Request with a body, and a URL', async () => {
    const pick = pickFetch([await pod(echo)]);
    const asked = new Request('http://anywhere.test/p?q=1', { method: 'POST', body: 'hello' });
    const answer = await pick(asked);
    expect(JSON.parse(answer.headers.get('x-seen') ?? '')).toEqual(['POST', '/p?q=1', null]);
    expect(await answer.text()).toBe('hello');
    expect((await pick(new URL('http://anywhere.test/'), { method: 'POST', body: 'x' })).status).toBe(200);
    await expect(pickFetch([])('/')).rejects.toThrow('no pod');
  });
});
