/** TLS with certificates that name hosts and no addresses, as providers give them to their servers. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { expect, it, onTestFinished } from 'vitest';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { LOAD_ENV } from '../../harness/load/load-env.ts';
import { startPod } from '../../harness/processes/processes.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { startTlsRedis, TLS_CERTIFICATE, TLS_KEY, type TlsRedis } from '../../harness/redis/tls-redis.ts';
import { createPodClient } from '../../harness/site/pod-client.ts';
import { untilReady } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

async function start(...args: Parameters<typeof startTlsRedis>): Promise<TlsRedis> {
  const redis = await startTlsRedis(...args);
  onTestFinished(redis.server.stop);
  return redis;
}

/** Starts a pod that trusts the authority, and asks it one question. */
async function askOver(env: Record<string, string>): Promise<void> {
  const pod = await startPod({ ...LOAD_ENV, NODE_EXTRA_CA_CERTS: TLS_CERTIFICATE, REDIS_URL: '', ...env });
  onTestFinished(() => pod.stop().then(() => undefined));
  await untilReady(pod);
  await createPodClient(pod).ask();
}

it.each<[string, (port: number) => RedisLocation]>([
  ['one server', (port) => ({ kind: 'single', url: `rediss://localhost:${port}` })],
  [
    'a Sentinel',
    (port) => ({ kind: 'sentinel', name: 'm', nodes: [{ host: 'localhost', port }], tls: true }),
  ],
  ['a node of a Cluster', (port) => ({ kind: 'cluster', nodes: [{ host: 'localhost', port }], tls: true })],
])('the handshake with %s names the host that is asked for', async (_what, location) => {
  const names: string[] = [];
  const server = createServer({
    key: readFileSync(TLS_KEY),
    cert: readFileSync(TLS_CERTIFICATE),
    SNICallback(name, done) {
      names.push(name);
      done(null);
    },
  });
  server.on('tlsClientError', () => undefined);
  const port = await listenOnFreePort(server);
  const redis = connectCommands(location(port));
  redis.on('error', () => undefined);
  onTestFinished(() => {
    redis.disconnect();
    server.close();
  });
  expect(await waitUntil(() => names[0], { what: 'a handshake with a name' })).toBe('localhost');
});

it('a pod works on one server, whose certificate names its host', async () => {
  const { tlsPort } = await start();
  await askOver({ REDIS_URL: `rediss://localhost:${tlsPort}` });
});

it('a pod works on a Cluster whose nodes announce names', async () => {
  const names = ['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'];
  const { server, tlsPort } = await start(['--cluster-enabled', 'yes', '--tls-cluster', 'yes', ...names]);
  await redisCommand(server.url, 'CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
  await askOver({ PARLEY_REDIS_CLUSTER: `localhost:${tlsPort}`, PARLEY_REDIS_TLS: 'true' });
});

it('a pod works behind a Sentinel that names its master by its host', async () => {
  const master = await start();
  const names = ['--sentinel', 'resolve-hostnames', 'yes', '--sentinel', 'announce-hostnames', 'yes'];
  const watch = ['--sentinel', 'monitor', 'm', 'localhost', `${master.tlsPort}`, '1'];
  const { tlsPort } = await start([...names, ...watch, '--tls-replication', 'yes'], true);
  await askOver({
    PARLEY_REDIS_SENTINELS: `localhost:${tlsPort}`,
    PARLEY_REDIS_SENTINEL_NAME: 'm',
    PARLEY_REDIS_TLS: 'true',
  });
});
