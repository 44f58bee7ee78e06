/** What `parley doctor` says of servers, streams and settings that are really broken, each in one way. Its look at a real Redis is in test/integration/redis. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { findingsOf, type Installation } from '../../../clients/cli/src/doctor/check-installation.ts';
import { findingsOfRedis } from '../../../clients/cli/src/doctor/check-redis.ts';
import { checkStream } from '../../../clients/cli/src/doctor/check-stream.ts';
import { FAULTS } from '../../../clients/cli/src/doctor/faults.ts';
import type { Finding } from '../../../clients/cli/src/doctor/finding.ts';
import { VERSION } from '../../../clients/cli/src/version.ts';
import { runCli } from '../../harness/cli/run.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

type Handler = (req: IncomingMessage, res: ServerResponse, count: number) => void;

const json =
  (body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Handler =>
  (_req, res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const READY = { status: 'ready', commands: true, subscription: true };
const WHOLE: Installation = {
  pods: [{ name: 'api-1', isAlive: true }],
  queues: [{ name: 'expiry', waiting: 0, failed: 0 }],
  canaryAgeSeconds: 5,
  servers: [{ usedMemoryBytes: 1, maxMemoryBytes: 100 }],
  deadLetters: 0,
};
/** A server in which nothing is wrong. */
const SOUND: Readonly<Record<string, Handler>> = {
  '/readyz': json(READY),
  '/openapi.json': json({ info: { version: VERSION } }),
  '/v1/elicitations': json({ elicitations: [] }),
  '/v1/admin/installation': json(WHOLE),
};

async function serve(routes: Readonly<Record<string, Handler>>): Promise<string> {
  const counts = new Map<string, number>();
  const server = createServer((req, res) => {
    const path = (req.url ?? '').split('?', 1)[0] ?? '';
    const at = counts.get(path) ?? 0;
    counts.set(path, at + 1);
    const handler = routes[path.startsWith('/v1/streams/') ? 'stream' : path];
    if (handler === undefined) res.writeHead(404).end();
    else handler(req, res, at);
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}

/** The codes that the command names, and its exit code. */
async function doctor(
  routes: Readonly<Record<string, Handler>>,
  {
    args = [],
    env = {},
  }: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
) {
  const url = await serve({ ...SOUND, ...routes });
  const all = { PARLEY_URL: url, PARLEY_TOKEN: 'key', ...env };
  const { out, code } = await runCli(['--json', 'doctor', '--quick', ...args], all);
  const findings = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Finding);
  return { findings, code, codes: findings.flatMap((one) => one.code ?? []) };
}

const leaving = (headers: Readonly<Record<string, string>>): Handler => json(READY, headers);
/** Replies with a clock that is off by this. */
const late =
  (ms: number): Handler =>
  (req, res, count) =>
    json(READY, { date: new Date(Date.now() + ms).toUTCString() })(req, res, count);
const alternating =
  (one: Handler, other: Handler): Handler =>
  (req, res, count) =>
    (count % 2 === 0 ? one : other)(req, res, count);

type Env = Readonly<Record<string, string>>;
/** By the code: the routes, or what the environment names at the same server. */
const BROKEN: Readonly<
  Record<string, [routes: Readonly<Record<string, Handler>>, args?: string[], env?: (url: string) => Env]>
> = {
  redirected: [{ '/readyz': json({}, { location: 'https://parley.example.com' }, 308) }],
  not_parley: [{ '/readyz': (_req, res) => void res.end('<html>Sign in</html>') }],
  server_not_ready: [
    { '/readyz': json({ ...READY, status: 'not ready', reason: 'password_wrong' }, {}, 503) },
  ],
  vault_unavailable: [{ '/readyz': json({ ...READY, vault: false }) }],
  worker_missing: [{ '/readyz': json({ ...READY, timerCanaryAgeSeconds: 300 }) }],
  // An address of this machine that does not look like one.
  plain_http: [{}, [], (url) => ({ PARLEY_URL: url.replace('127.0.0.1', '0.0.0.0') })],
  session_affinity: [{ '/readyz': leaving({ 'set-cookie': 'SERVERID=api-1; path=/' }) }],
  clock_wrong: [{ '/readyz': late(-90_000) }],
  pod_clocks_differ: [{ '/readyz': alternating(leaving({}), late(20_000)) }],
  version_differs: [{ '/openapi.json': json({ info: { version: '0.0.1' } }) }],
  mixed_builds: [
    {
      '/openapi.json': alternating(
        json({ info: { version: VERSION } }),
        json({ info: { version: '0.0.1' } }),
      ),
    },
  ],
  token_refused: [{ '/v1/elicitations': json({}, {}, 401) }],
  public_url_differs: [
    {
      '/.well-known/oauth-protected-resource/run/v1/mcp': json({
        resource: 'https://parley.example.com/run/v1/mcp',
      }),
    },
  ],
  origin_refused: [{}, ['--origin', 'https://app.example.com']],
  metrics_exposed: [{ '/metrics': (_req, res) => void res.end('# HELP parley_asks\n') }],
  admin_missing: [{ '/v1/admin/installation': json({}, {}, 403) }],
  webhook_secret_missing: [
    {
      '/v1/admin/installation': json({ ...WHOLE, deadLetters: 2 }),
      '/v1/webhooks/dead-letters': json({
        deadLetters: [{ lastError: 'status' }, { lastError: 'no_secret' }],
      }),
    },
  ],
  jwks_unreachable: [{}, [], (url) => ({ PARLEY_JWT_JWKS_URL: `${url}/keys` })],
  issuer_unreachable: [{}, [], (url) => ({ PARLEY_CONNECT_OIDC_ISSUER: `${url}/nobody` })],
  issuer_differs: [
    { '/.well-known/openid-configuration': json({ issuer: 'https://login.example.com/' }) },
    [],
    (url) => ({ PARLEY_CONNECT_OIDC_ISSUER: url }),
  ],
};

it('doctor finds nothing wrong where nothing is', async () => {
  const { findings, code } = await doctor({});
  expect(findings.filter(({ check }) => check !== 'redis').map(({ verdict }) => verdict)).not.toContain(
    'wrong',
  );
  expect([findings.flatMap((one) => one.code ?? []), code]).toEqual([[], 0]);
});

it.each(Object.entries(BROKEN))(
  'doctor names %s, with its key and its remedy',
  async (code, [routes, args = [], env]) => {
    const elsewhere = env === undefined ? {} : env(await serve({ ...SOUND, ...routes }));
    const { findings, codes, ...rest } = await doctor(routes, { args, env: elsewhere });
    const { key, remedy } = FAULTS[code as keyof typeof FAULTS];
    const found = findings.find((one) => one.code === code);
    expect(found).toMatchObject({ code, key, remedy });
    expect(rest.code).toBe(findings.some(({ verdict }) => verdict === 'wrong') ? 1 : 0);
    // One fault is not told as several; webhooks that were given up are counted, too.
    expect(codes).toEqual(code === 'webhook_secret_missing' ? ['dead_letters', code] : [code]);
  },
);

it('doctor names a Node that is too old', async () => {
  const { versions } = process;
  onTestFinished(() => void Object.defineProperty(process, 'versions', { value: versions }));
  Object.defineProperty(process, 'versions', { value: { ...versions, node: '20.18.3' } });
  const { findings, codes, code } = await doctor({});
  expect([codes, code]).toEqual([['node_too_old'], 1]);
  expect(findings[0]).toMatchObject({ check: 'node', remedy: FAULTS.node_too_old.remedy });
});

it('doctor says what to do in an environment without a token, a server or two timer queues', async () => {
  const nothing = await runCli(['--json', 'doctor'], { PARLEY_REDIS_CLUSTER: 'localhost:x' });
  expect(nothing.out).toMatch(/"code":"token_missing"/);
  expect(nothing.out).toMatch(/"code":"one_timer_queue"/);
  expect(nothing.out).toMatch(/"code":"settings_invalid"/);
  const { out } = await runCli(['doctor'], { PARLEY_URL: 'http://nowhere.invalid', PARLEY_TOKEN: 'key' });
  expect(out).toMatch(
    /^wrong +server: .*its name has no address\. Correct PARLEY_URL.*\(server_unreachable\)$/m,
  );
});

it.each<[code: string, change: Partial<Installation>]>([
  ['worker_missing', { canaryAgeSeconds: undefined }],
  ['pods_lapsed', { pods: [{ name: 'api-1', isAlive: false }] }],
  ['jobs_failed', { queues: [{ name: 'expiry', waiting: 0, failed: 1 }] }],
  ['jobs_behind', { queues: [{ name: 'runs', waiting: 5_000, failed: 0 }] }],
  ['dead_letters', { deadLetters: 3 }],
  ['memory_nearly_full', { servers: [{ usedMemoryBytes: 95, maxMemoryBytes: 100 }] }],
  ['no_memory_limit', { servers: [{ usedMemoryBytes: 95 }] }],
])('doctor names %s of an installation', (code, change) => {
  expect(findingsOf({ ...WHOLE, ...change }).flatMap((one) => one.code ?? [])).toEqual([code]);
});

it('doctor misses no worker where the api keeps everything in memory', () => {
  const found = findingsOf({ ...WHOLE, canaryAgeSeconds: undefined, servers: [] });
  expect(found.flatMap((one) => one.code ?? [])).toEqual([]);
});

const STATE = { usedMemoryBytes: 1, maxMemoryBytes: 100, usesAof: true, writesFail: false, commandMs: 1 };

it.each([
  ['evicted', { evictedKeys: 4 }],
  ['memory_nearly_full', { usedMemoryBytes: 99 }],
  ['aof_off', { usesAof: false }],
  ['write_failed', { writesFail: true }],
  ['connections_refused', { refusedConnections: 7 }],
  ['redis_slow', { commandMs: 80 }],
])('doctor names %s of a Redis', (code, change) => {
  const diagnosis = { address: 'redis:6379', timeMs: Date.now(), evictionPolicy: 'noeviction' };
  const found = findingsOfRedis('redis', { ...diagnosis, state: { ...STATE, ...change } });
  expect(found.filter((one) => one.code !== undefined)).toMatchObject([
    { code, key: 'redis', remedy: FAULTS[code as keyof typeof FAULTS].remedy },
  ]);
});

const stream =
  (write: (res: ServerResponse) => void, headers = {}): Handler =>
  (_req, res) =>
    write(res.writeHead(200, { 'content-type': 'text/event-stream', ...headers }));

it.each<[what: string | undefined, route: Handler]>([
  [
    undefined,
    stream((res) => res.write('retry: 1000\n', () => void setTimeout(() => res.write(': heartbeat\n'), 20))),
  ],
  ['stream_refused', json({}, {}, 502)],
  ['stream_compressed', stream((res) => res.flushHeaders(), { 'content-encoding': 'gzip' })],
  ['stream_buffered', () => undefined],
  ['stream_buffered', stream((res) => res.flushHeaders())],
  ['stream_buffered', stream((res) => res.write('retry: 1000\n'))],
  ['stream_cut', stream((res) => res.write('retry: 1000\n', () => void setTimeout(() => res.destroy(), 20)))],
])('doctor says %s of a stream', async (code, route) => {
  const target = { baseUrl: await serve({ stream: route }), token: 'key' };
  // The sound stream, and the one that is cut, end the wait themselves.
  const isHeld = code === 'stream_buffered';
  const times = { firstMs: isHeld ? 300 : 10_000, heartbeatMs: isHeld ? 300 : 10_000 };
  expect((await checkStream(target, times)).code).toBe(code);
});
