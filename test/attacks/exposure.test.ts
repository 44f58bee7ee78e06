import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { walkA2a } from '../harness/a2a/walk.ts';
import { call } from '../harness/attacks/call.ts';
import { openStream } from '../harness/attacks/stream.ts';
import { POST_ASK, question } from '../harness/attacks/world.ts';
import { freePort } from '../harness/free-port.ts';
import { type Pod, startPod } from '../harness/processes/processes.ts';
import { type RedisServer, startRedis } from '../harness/redis/redis-server.ts';
import { PARLEY_PASSWORD, shippedUsers } from '../harness/redis/shipped-users.ts';
import { userToken } from '../harness/tokens.ts';
import { waitUntil } from '../harness/wait-until.ts';

const SECRET = 'exposure-secret-exposure-secret-exposure';
const KEY = 'exposure-service-key-0123456789';

let directory: string;
let redis: RedisServer;
let pod: Pod;
let metricsUrl: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-acl-'));
  // Nothing starts it again: a slow disk need not hold it up.
  redis = await startRedis({ args: ['--appendonly', 'no', ...(await shippedUsers(directory))] });
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  pod = await startPod({
    REDIS_URL: redis.url,
    PARLEY_REDIS_USERNAME: 'parley',
    PARLEY_REDIS_PASSWORD: PARLEY_PASSWORD,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_API_KEYS: `acme:${KEY}`,
    PARLEY_METRICS_PORT: String(port),
  });
});
afterAll(async () => {
  await pod?.stop();
  await redis?.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('metrics', () => {
  it('listen on loopback only, unless the environment says otherwise', async () => {
    expect((await fetch(metricsUrl)).status).toBe(200);
    // Another address of this machine: a server that listens on all addresses would reply there.
    await expect(fetch(metricsUrl.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
  });
});

describe('S22 Redis', () => {
  it('a pod does all its work with the permissions of users.acl', async () => {
    const userId = 'ada';
    const user = await userToken({ secret: SECRET, userId, tenant: 'acme' });
    const send = (method: string, path: string, token: string, body?: unknown) =>
      call(pod.url, { method, path, token, ...(body !== undefined && { body }) });
    const inbox = await openStream(pod, '/v1/inbox/events', user);
    await inbox.event(0);
    const ask = async (more: object = {}) => {
      const body = { ...question(userId), streamRequestId: 'turn-1', ...more };
      const headers = { 'idempotency-key': JSON.stringify(more).replaceAll(/[^a-z0-9]/gi, '-') };
      const reply = await call(pod.url, { ...POST_ASK, token: KEY, body, headers });
      expect(reply.status, reply.text).toBe(201);
      return `/v1/elicitations/${(reply.json as { elicitationId: string }).elicitationId}`;
    };
    const url = {
      mode: 'url',
      url: 'https://example.com/',
      requestedSchema: undefined,
      completion: 'server',
    };
    const [form, page, taken, late] = [
      await ask(),
      await ask(url),
      await ask({ title: 'x' }),
      await ask({ timeoutSeconds: 1 }),
    ];
    // An inbox skips questions that begin and end between two polls.
    await waitUntil(() => inbox.text().includes(page.slice(page.lastIndexOf('/') + 1)), {
      what: 'the inbox',
    });
    const wait = send('GET', `${form}/wait?timeoutSeconds=20`, KEY);
    const accept = { action: 'accept', content: { name: 'Ada' } };
    expect((await send('POST', `${form}/response`, user, accept)).status).toBe(200);
    expect((await wait).json).toMatchObject({ status: 'accepted' });
    expect((await send('POST', `${page}/response`, user, { action: 'accept' })).status).toBe(200);
    expect((await send('POST', `${page}/complete`, KEY)).status).toBe(200);
    expect((await send('DELETE', taken, KEY)).status).toBe(200);
    expect((await send('GET', `${late}/wait?timeoutSeconds=20`, KEY)).json).toMatchObject({
      status: 'expired',
    });
    expect((await send('GET', '/v1/elicitations', user)).json).toMatchObject({
      elicitations: [{}, {}, {}, {}],
    });
    const stream = await openStream(pod, '/v1/streams/turn-1/events', user);
    await stream.event(8);
    stream.close();
    inbox.close();
    expect((await call(pod.url, { path: '/readyz' })).json).toMatchObject({ status: 'ready' });
    expect(await (await fetch(metricsUrl)).text()).toMatch(/^parley_timer_schedule_failures_total\S* 0$/m);
    expect(pod.lines.filter((line) => /NOPERM|ACL|permission|"level":"error"/.test(line))).toEqual([]);
  });

  it('A2A does all its work with these permissions', () =>
    walkA2a({ kind: 'single', url: redis.url, username: 'parley', password: PARLEY_PASSWORD }));

  it.each([
    ['KEYS', '*'],
    ['FLUSHALL'],
    ['FLUSHDB', 'ASYNC'],
    ['CONFIG', 'GET', '*'],
    ['CONFIG', 'SET', 'requirepass', ''],
    ['ACL', 'SETUSER', 'parley', 'allcommands'],
    ['MONITOR'],
    ['DEBUG', 'OBJECT', 'x'],
    ['SHUTDOWN', 'NOSAVE'],
    ['GET', 'not-parleys'],
    ['SET', 'not-parleys', 'x'],
    ['PUBLISH', 'not-parleys', 'x'],
    ['PSUBSCRIBE', '*'],
    ['EVAL', "return redis.call('GET', 'not-parleys')", '0'],
    ['EVAL', "return redis.call('FLUSHALL')", '0'],
  ])('that user may not %s %s', async (command, ...args) => {
    const client = new Redis({
      port: redis.port,
      username: 'parley',
      password: PARLEY_PASSWORD,
      retryStrategy: () => null,
    });
    client.on('error', () => undefined);
    await expect(client.call(command, ...args)).rejects.toThrow(
      /NOPERM|ACL failure|can't (?:run|access)|not allowed/,
    );
    client.disconnect();
  });

  it('a connection without a password, or with a wrong one, is refused', async () => {
    for (const login of [
      {},
      { username: 'parley' },
      { username: 'parley', password: 'guess' },
      { password: PARLEY_PASSWORD },
    ]) {
      const client = new Redis({ port: redis.port, ...login, retryStrategy: () => null, lazyConnect: true });
      client.on('error', () => undefined);
      await expect(client.connect().then(() => client.get('parley:x'))).rejects.toThrow();
      client.disconnect();
    }
  });
});
