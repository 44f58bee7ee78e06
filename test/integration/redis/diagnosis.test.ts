/** Why a Redis cannot be used: each cause with a real server or socket that has it, as people and the log are told it. */
import { createServer } from 'node:net';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { diagnose } from '@parley/shared/redis/diagnosis/diagnose';
import { explainFault, explainVersion } from '@parley/shared/redis/diagnosis/fault';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import { LOAD_ENV } from '../../harness/load/load-env.ts';
import { startProcess } from '../../harness/processes/processes.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { startTlsRedis, type TlsRedis } from '../../harness/redis/tls-redis.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const PASSWORD = 'canary-of-a-password';

let open: RedisServer;
let locked: TlsRedis;
let replica: RedisServer;
/** A master that has lost its replicas. */
let lonely: RedisServer;
let silentPort: number;
/** Accepts connections and never answers. */
const silent = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.resume();
});

beforeAll(async () => {
  [open, lonely, locked, silentPort] = await Promise.all([
    startRedis(),
    startRedis({ args: ['--min-replicas-to-write', '1'] }),
    startTlsRedis(['--requirepass', PASSWORD]),
    listenOnFreePort(silent),
  ]);
  replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${open.port}`] });
  const asAdmin = `redis://:${PASSWORD}@127.0.0.1:${locked.server.port}`;
  await redisCommand(asAdmin, 'ACL', 'SETUSER', 'weak', 'on', `>${PASSWORD}`, '+ping');
  await redisCommand(asAdmin, 'ACL', 'SETUSER', 'keyless', 'on', `>${PASSWORD}`, '+@all', '&*');
  await redisCommand(asAdmin, 'ACL', 'SETUSER', 'mute', 'on', `>${PASSWORD}`, '+@all', '~*', 'resetchannels');
});
afterAll(async () => {
  silent.close();
  await Promise.all([open?.stop(), locked?.server.stop(), replica?.stop(), lonely?.stop()]);
});

const at = (port: number, login = ''): RedisLocation => ({
  kind: 'single',
  url: `redis://${login}127.0.0.1:${port}`,
});
const sentinel = (port: number): RedisLocation => ({
  kind: 'sentinel',
  name: 'orders',
  nodes: [{ host: '127.0.0.1', port }],
});

it.each<[string, () => RedisLocation | Promise<RedisLocation>, RegExp]>([
  [
    'unknown_host',
    () => ({ kind: 'single', url: 'redis://nowhere.invalid' }),
    /nowhere\.invalid:6379\. .*DNS/,
  ],
  ['refused', async () => at(await freePort()), /Nothing listens .*Start Redis/],
  ['no_answer', () => at(silentPort), /does not answer/],
  ['no_tls', () => ({ kind: 'single', url: `rediss://127.0.0.1:${open.port}` }), /redis:\/\/ instead/],
  ['tls_expected', () => at(locked.tlsPort), /use rediss:/],
  [
    'certificate',
    () => ({ kind: 'single', url: `rediss://localhost:${locked.tlsPort}` }),
    /NODE_EXTRA_CA_CERTS/,
  ],
  ['password_missing', () => at(locked.server.port), /PARLEY_REDIS_PASSWORD/],
  ['password_wrong', () => at(locked.server.port, 'weak:wrong@'), /PARLEY_REDIS_USERNAME/],
  ['not_permitted', () => at(locked.server.port, `weak:${PASSWORD}@`), /users\.acl/],
  ['not_permitted', () => at(locked.server.port, `keyless:${PASSWORD}@`), /users\.acl/],
  ['not_permitted', () => at(locked.server.port, `mute:${PASSWORD}@`), /users\.acl/],
  ['replica', () => at(replica.port), /master/],
  ['not_ready', () => at(lonely.port), /its own log|Its own log/],
  ['not_a_sentinel', () => sentinel(open.port), /is no Sentinel/],
  [
    'not_a_cluster',
    () => ({ kind: 'cluster', nodes: [{ host: '127.0.0.1', port: open.port }] }),
    /no Cluster/,
  ],
])('%s is named with its remedy, and with no secret', async (code, location, text) => {
  const { fault } = await diagnose(await location());
  expect(fault).toEqual({ code, text: expect.stringMatching(text) });
  expect(fault?.text).not.toContain(PASSWORD);
});

it('a Sentinel that knows no such master is named, and a server that can be used has no fault', async () => {
  const watching = await startRedis({
    sentinel: true,
    args: ['--sentinel', 'monitor', 'other', '127.0.0.1', `${open.port}`, '1'],
  });
  onTestFinished(watching.stop);
  expect((await diagnose(sentinel(watching.port))).fault).toMatchObject({ code: 'unknown_master' });
  const facts = {
    version: expect.stringMatching(/^\d/),
    evictionPolicy: 'noeviction',
    timeMs: expect.any(Number),
  };
  const address = `127.0.0.1:${open.port}`;
  expect(await diagnose(at(open.port))).toEqual({ address, ...facts });
  expect(await diagnose({ ...sentinel(watching.port), name: 'other' })).toEqual({ address, ...facts });
  expect(await diagnose(at(locked.server.port, `:${PASSWORD}@`))).toMatchObject({ version: facts.version });
});

it.each([
  ['6.2.14', 'too_old'],
  ['7.0.0', undefined],
  ['10.0.0', undefined],
  [undefined, undefined],
])('the version %s is %s', (version, code) => {
  expect(explainVersion('redis:6379', version)?.code).toBe(code);
});

it.each([
  ['LOADING Redis is loading the dataset in memory', 'not_ready'],
  ['ERR unknown command `frobnicate`, with args beginning with: a secret', 'other'],
])('of the reply %s nothing but its code is said', (message, code) => {
  const fault = explainFault('redis:6379', 'commands', new Error(message));
  expect(fault).toMatchObject({ code });
  expect(fault.text).not.toMatch(/dataset|secret/);
});

it.each(['api', 'worker'] as const)(
  'the log of the %s says once why Redis cannot be used and when it can again, and /readyz gives the code',
  async (service) => {
    const redis = await startRedis({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    onTestFinished(redis.stop);
    await redisCommand(redis.url, 'CONFIG', 'SET', 'requirepass', PASSWORD);
    const port = await freePort();
    const env = {
      ...LOAD_ENV,
      PARLEY_LOG_LEVEL: 'info',
      REDIS_URL: redis.url,
      [service === 'api' ? 'PORT' : 'PARLEY_METRICS_PORT']: `${port}`,
    };
    const pod = await startProcess({
      name: service,
      entry: `services/${service}/src/main.ts`,
      env,
      readyWhen: ({ reason }) => reason === 'password_missing',
    });
    onTestFinished(() => pod.stop().then(() => undefined));
    const said = (text: RegExp) => pod.lines.filter((line) => text.test(line)).length;
    const readiness = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).json();
    const reason = async () => ((await readiness()) as { reason?: string }).reason;
    expect(await reason()).toBe('password_missing');
    await redisCommand(`redis://:${PASSWORD}@127.0.0.1:${redis.port}`, 'CONFIG', 'SET', 'requirepass', '');
    await waitUntil(() => said(/Redis can be used again/) === 1, { what: 'the end of the fault in the log' });
    await waitUntil(() => said(/maxmemory-policy to noeviction/) === 1, {
      what: 'the warning of the policy',
    });
    expect(said(/Redis cannot be used: .*asks for a password/)).toBe(1);
    expect(await reason()).toBeUndefined();
  },
);
