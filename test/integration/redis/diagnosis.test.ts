/** Why a Redis cannot be used: each cause with a real server or socket that has it, as people and the log are told it. */
import { connect, createServer } from 'node:net';
import { readRedisPlaces } from '@parley/shared/config/redis-env';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { diagnose } from '@parley/shared/redis/diagnosis/diagnose';
import { explainFault, explainVersion } from '@parley/shared/redis/diagnosis/fault';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Finding as RealFinding } from '../../../clients/cli/src/doctor/finding.ts';
import { runCli } from '../../harness/cli/run.ts';
import { newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
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
let slotless: RedisServer;
/** A Sentinel of a master with another name. */
let watching: RedisServer;
let [silentPort, refusingPort, agedPort] = [0, 0, 0];
/** Accepts connections and never answers. */
const silent = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.resume();
});

/** Passes everything on to the Redis that can be used, which says through it that it is older than it is. */
const aged = createServer((socket) => {
  const server = connect(open.port, '127.0.0.1');
  for (const each of [socket, server]) each.on('error', () => undefined);
  server.on('data', (data) =>
    socket.write(data.toString('latin1').replace(/redis_version:\d/, 'redis_version:6'), 'latin1'),
  );
  socket.pipe(server).once('close', () => socket.destroy());
});

beforeAll(async () => {
  [open, lonely, locked, slotless, silentPort, refusingPort, agedPort] = await Promise.all([
    startRedis(),
    startRedis({ args: ['--min-replicas-to-write', '1'] }),
    startTlsRedis(['--requirepass', PASSWORD]),
    startRedis({ args: ['--cluster-enabled', 'yes'] }),
    listenOnFreePort(silent),
    freePort(),
    listenOnFreePort(aged),
  ]);
  const watch = ['--sentinel', 'monitor', 'other', '127.0.0.1', `${open.port}`, '1'];
  [replica, watching] = await Promise.all([
    startRedis({ args: ['--replicaof', `127.0.0.1 ${open.port}`] }),
    startRedis({ sentinel: true, args: watch }),
  ]);
  const asAdmin = `redis://:${PASSWORD}@127.0.0.1:${locked.server.port}`;
  await redisCommand(asAdmin, 'ACL', 'SETUSER', 'weak', 'on', `>${PASSWORD}`, '+ping');
  await redisCommand(asAdmin, 'ACL', 'SETUSER', 'keyless', 'on', `>${PASSWORD}`, '+@all', '&*');
  await redisCommand(asAdmin, 'ACL', 'SETUSER', 'mute', 'on', `>${PASSWORD}`, '+@all', '~*', 'resetchannels');
});
afterAll(async () => {
  silent.close();
  aged.close();
  const servers = [open, locked?.server, replica, lonely, slotless, watching];
  await Promise.all(servers.map((server) => server?.stop()));
});

const at = (port: number, login = '') => `redis://${login}127.0.0.1:${port}`;
const list = (port: number) => `127.0.0.1:${port}`;
type Env = Readonly<Record<string, string>>;
type Finding = Pick<RealFinding, 'check' | 'verdict' | 'text' | 'code'>;

/** What `parley doctor` prints of an environment, about Redis. */
async function doctor(env: Env): Promise<Finding[]> {
  const { out } = await runCli(['--json', 'doctor'], {
    ...env,
    PARLEY_TOKEN: 't',
    PARLEY_URL: `http://127.0.0.1:${await freePort()}`,
  });
  const findings = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  // A busy machine is slow, too.
  return findings.filter(({ check, code }) => /redis/.test(check) && code !== 'redis_slow');
}

it.each<[code: string, env: () => Env, text: RegExp]>([
  ['unknown_host', () => ({ REDIS_URL: 'redis://nowhere.invalid' }), /nowhere\.invalid:6379\. .*DNS/],
  ['refused', () => ({ REDIS_URL: at(refusingPort) }), /Nothing listens .*Start Redis/],
  ['no_answer', () => ({ REDIS_URL: at(silentPort) }), /does not answer/],
  ['no_tls', () => ({ REDIS_URL: `rediss://127.0.0.1:${open.port}` }), /use redis:\/\/ in REDIS_URL/],
  [
    'no_tls',
    () => ({ PARLEY_REDIS_CLUSTER: list(open.port), PARLEY_REDIS_TLS: 'true' }),
    /leave PARLEY_REDIS_TLS unset/,
  ],
  ['tls_expected', () => ({ REDIS_URL: at(locked.tlsPort) }), /use rediss:\/\/ in REDIS_URL/],
  ['tls_expected', () => ({ PARLEY_REDIS_SENTINELS: list(locked.tlsPort) }), /set PARLEY_REDIS_TLS/],
  ['certificate', () => ({ REDIS_URL: `rediss://localhost:${locked.tlsPort}` }), /NODE_EXTRA_CA_CERTS/],
  [
    'password_missing',
    () => ({ REDIS_URL: at(locked.server.port) }),
    /in REDIS_URL or PARLEY_REDIS_PASSWORD/,
  ],
  [
    'password_missing',
    () => ({ PARLEY_REDIS_SENTINELS: list(locked.server.port) }),
    /Set it in PARLEY_REDIS_SENTINELS_PASSWORD/,
  ],
  ['password_wrong', () => ({ REDIS_URL: at(locked.server.port, 'weak:wrong@') }), /PARLEY_REDIS_USERNAME/],
  [
    'password_wrong',
    () => ({ PARLEY_REDIS_CLUSTER: list(locked.server.port), PARLEY_REDIS_PASSWORD: 'wrong' }),
    /Correct PARLEY_REDIS_USERNAME and PARLEY_REDIS_PASSWORD/,
  ],
  ['not_permitted', () => ({ REDIS_URL: at(locked.server.port, `weak:${PASSWORD}@`) }), /users\.acl/],
  ['not_permitted', () => ({ REDIS_URL: at(locked.server.port, `keyless:${PASSWORD}@`) }), /users\.acl/],
  ['not_permitted', () => ({ REDIS_URL: at(locked.server.port, `mute:${PASSWORD}@`) }), /users\.acl/],
  ['replica', () => ({ REDIS_URL: at(replica.port) }), /master/],
  ['too_old', () => ({ REDIS_URL: at(agedPort) }), /is Redis 6\..*7\.0 or later: upgrade/],
  ['not_ready', () => ({ REDIS_URL: at(lonely.port) }), /its own log|Its own log/],
  ['not_ready', () => ({ PARLEY_REDIS_CLUSTER: list(slotless.port) }), /slots are missing/],
  ['not_a_sentinel', () => ({ PARLEY_REDIS_SENTINELS: list(open.port) }), /is no Sentinel/],
  [
    'unknown_master',
    () => ({ PARLEY_REDIS_SENTINELS: list(watching.port), PARLEY_REDIS_SENTINEL_NAME: 'orders' }),
    /PARLEY_REDIS_SENTINEL_NAME/,
  ],
  ['not_a_cluster', () => ({ PARLEY_REDIS_CLUSTER: list(open.port) }), /no Cluster/],
])('%s is named by `parley doctor` with its remedy, and with no secret', async (code, env, text) => {
  const read = readRedisPlaces(env());
  const [place] = 'places' in read ? Object.values(read.places) : [];
  expect(await diagnose(place as RedisLocation)).toMatchObject({ fault: { code } });
  const findings = await doctor(env());
  expect(findings).toEqual([
    { check: 'redis', verdict: 'wrong', code, key: Object.keys(env())[0], text: expect.stringMatching(text) },
  ]);
  expect(findings[0]?.text).not.toContain(PASSWORD);
});

it('`parley doctor` names what it finds at a Redis, at the master of a Sentinel, and at the vault, whose user needs no channels', async () => {
  const ok = (check: string, port: number) => ({
    check,
    verdict: 'ok',
    text: expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:${port} is (?:Redis|Valkey) \\d+\\.\\d`)),
  });
  const clock = (check: string) => ({ check: `clock of ${check}`, verdict: 'ok', text: expect.any(String) });
  // The servers of tests have no limit of memory.
  const unbounded = (check: string) => expect.objectContaining({ check, code: 'no_memory_limit' });
  const main = [ok('redis', open.port), clock('redis'), unbounded('redis')];
  const vault = { PARLEY_VAULT_REDIS_URL: at(locked.server.port, `mute:${PASSWORD}@`) };
  const ofVault = 'redis of the vault';
  expect(await doctor({ REDIS_URL: open.url, ...vault })).toEqual([
    ...main,
    ok(ofVault, locked.server.port),
    clock(ofVault),
    unbounded(ofVault),
  ]);
  const sentinel = {
    PARLEY_REDIS_SENTINELS: list(watching.port),
    PARLEY_REDIS_SENTINEL_NAME: 'other',
    PARLEY_VAULT_REDIS_URL: at(locked.server.port),
  };
  expect(await doctor(sentinel)).toEqual([
    ...main,
    expect.objectContaining({
      check: ofVault,
      code: 'password_missing',
      text: expect.stringMatching(/Set it in PARLEY_VAULT_REDIS_URL/),
    }),
  ]);
  const set = (name: string, value: string) => redisCommand(open.url, 'CONFIG', 'SET', name, value);
  const codes = async () => (await doctor({ REDIS_URL: open.url })).flatMap(({ code }) => code ?? []);
  onTestFinished(async () => {
    await set('maxmemory-policy', 'noeviction');
    await set('maxmemory', '0');
  });
  await set('maxmemory', '1gb');
  expect(await codes()).toEqual([]);
  await set('appendonly', 'no');
  await set('maxmemory-policy', 'allkeys-lru');
  await set('maxmemory', '1000');
  expect(await codes()).toEqual(['evicts', 'memory_nearly_full', 'aof_off']);
  expect(await doctor({ REDIS_URL: 'http://redis' })).toMatchObject([{ verdict: 'wrong' }]);
  expect(await doctor({})).toMatchObject([{ verdict: 'unknown' }]);
});

it('a Redis of the vault that hangs is told, and holds no probe of the pod up', async () => {
  const hanging = await startRedis();
  onTestFinished(hanging.stop);
  const single = (url: string) => ({ kind: 'single', url }) as const;
  const backend = createRedisBackend({
    location: single(open.url),
    vaultLocation: single(hanging.url),
    settings: ROOMY,
    timerQueues: 1,
  });
  onTestFinished(() => backend.close());
  const tells = (vault: boolean) => async () => (await backend.health()).vault === vault;
  await waitUntil(tells(true), { what: 'the vault' });
  hanging.pause();
  const command = backend.vault.now(newOwner()).catch(() => 'timed out');
  expect(await Promise.race([command, backend.health()])).toMatchObject({ commands: true });
  await waitUntil(tells(false), { what: 'that the vault hangs' });
  hanging.resume();
  await waitUntil(tells(true), { what: 'the vault again' });
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
      PARLEY_VAULT_REDIS_URL: at(locked.server.port),
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
    // The worker opens no vault.
    if (service === 'worker') return;
    const ofVault = /The Redis of the vault cannot be used: .*Set it in PARLEY_VAULT_REDIS_URL/;
    await waitUntil(() => said(ofVault) === 1, { what: 'the fault of the vault in the log' });
    expect(await readiness()).toMatchObject({ status: 'ready', vault: false });
  },
);
