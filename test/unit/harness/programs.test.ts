import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import { createRoundRobin, type RoundRobin } from '../../harness/http/round-robin.ts';
import { type ProcessOptions, startProcess } from '../../harness/processes/processes.ts';
import { findRedis } from '../../harness/redis/find-redis.ts';

// The suites start these programs all the time; here is what they promise when something is missing or breaks.

describe('startProcess', () => {
  const start = (more: Partial<ProcessOptions>) =>
    startProcess({
      name: 'pod',
      entry: 'test/harness/fixtures/echo-pod.ts',
      readyWhen: (line) => line.listening === true,
      ...more,
    });

  it('passes only the given environment, and ends the process under a wrapper that forks', async () => {
    const pod = await start({ env: { ONLY: 'this' }, wrap: ['sh', '-c', '"$@"; exit $?', 'sh'] });
    expect(pod.ready).toMatchObject({ pid: pod.pid, env: expect.arrayContaining(['HOME', 'ONLY', 'PATH']) });
    expect(pod.ready.env).not.toContain('VITEST');
    pod.freeze();
    await pod.stop();
    expect(() => process.kill(pod.pid, 0)).toThrow('ESRCH');
  });

  it('rejects with the last output, and leaves no process behind, when the process does not get ready', async () => {
    const failing = start({ entry: 'test/harness/fixtures/failing-pod.ts' });
    await expect(failing).rejects.toThrow(/pod ended with 3 before it was ready:\nthe reason is here/);
    const silent = ['sh', '-c', 'echo "{\\"pid\\":$$}"; exec sleep 100', 'sh'];
    const failure: unknown = await start({ wrap: silent, readyTimeoutMs: 5_000 }).catch(
      (error: unknown) => error,
    );
    const [, pid] = /was not ready after 5000 ms:\n\{"pid":(\d+)\}/.exec(String(failure)) ?? [];
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  });
});

describe('findRedis', () => {
  it('never replaces a REDIS_URL that does not answer', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    expect(await findRedis({ PATH: process.env.PATH, REDIS_URL: url })).toEqual({
      notRun: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('createRoundRobin', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function pod(handler: RequestListener): Promise<string> {
    const server = createServer((incoming, outgoing) => {
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

  async function balance(...targets: readonly string[]): Promise<RoundRobin> {
    const balancer = await createRoundRobin({ targets, healthTimeoutMs: 10_000 });
    cleanups.push(() => balancer.close());
    return balancer;
  }

  it('skips a dead pod, and repeats nothing that has reached one', async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const echo: RequestListener = async (incoming, outgoing) => void outgoing.end(await text(incoming));
    const alive = await balance(dead, await pod(echo));
    for (const body of ['x'.repeat(5_000_000), 'again'])
      expect(await (await fetch(alive.url, { method: 'POST', body })).text()).toBe(body);
    expect((await fetch((await balance(dead)).url)).status).toBe(503);
    let received = 0;
    const dying: RequestListener = (incoming) => {
      received += 1;
      incoming.socket.resetAndDestroy();
    };
    const breaking = await balance(await pod(dying), await pod(dying));
    expect((await fetch(breaking.url, { method: 'POST', body: 'once' })).status).toBe(502);
    expect(received).toBe(1);
  });
});
