import { createServer } from 'node:net';
import type { Backend } from '@parley/shared/ports/backend';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { afterEach, describe, it } from 'vitest';
import { createStepGate, type StepGate } from '../harness/chaos/step-gate.ts';
import { ROOMY } from '../harness/engines/settings.ts';
import { freePort, listenOnFreePort } from '../harness/free-port.ts';
import { prove } from '../harness/load/size.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../harness/redis/redis-server.ts';
import { newOwner } from '../harness/site/pod-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

/** Commands, producer, subscriber, and the two connections of a BullMQ worker. */
const CONNECTIONS = 5;
// A pod is usable again within 6 s. The rest is for a busy machine; a bound that is missing lasts 15 s or for ever.
const USABLE_WITHIN_MS = 12_000;
const USER = 'half-open';
const PASSWORD = 'a-password-of-the-test';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** What a pod and a worker have open at Redis, and whether all of it works. */
interface Connected {
  /** Waits until commands, the subscription, the producer and the worker work; returns how long that took, in ms. */
  untilUsable(): Promise<number>;
}

function connect(location: RedisLocation): Connected {
  const backend: Backend = createRedisBackend({ location, settings: ROOMY, timerQueues: 1 });
  const taken = new Set<string>();
  const consumer = backend.runQueue.consume(async ({ streamRequestId }) => {
    taken.add(streamRequestId);
  });
  cleanups.push(async () => {
    await consumer.close();
    await backend.close();
  });
  let offers = 0;
  return {
    async untilUsable() {
      const startedAt = performance.now();
      await waitUntil(
        async () => {
          const { commands, subscription } = await backend.health();
          return commands && subscription;
        },
        { what: 'commands and the subscription', timeoutMs: USABLE_WITHIN_MS },
      );
      offers += 1;
      const streamRequestId = `run-${offers}`;
      const run = { ...newOwner(), streamRequestId };
      await waitUntil(() => backend.runQueue.offer(run, offers).then(() => true), {
        what: 'the producer',
        timeoutMs: USABLE_WITHIN_MS,
      });
      await waitUntil(() => taken.has(streamRequestId), {
        what: 'the worker to take the run',
        timeoutMs: USABLE_WITHIN_MS,
      });
      return Math.round(performance.now() - startedAt);
    },
  };
}

async function startServer(args: string[] = [], more: RedisOptions = {}): Promise<RedisServer> {
  const server = await startRedis({ args, ...more });
  cleanups.push(() => server.stop());
  return server;
}

async function openGate(port: number): Promise<StepGate> {
  const gate = await createStepGate(port);
  cleanups.push(() => gate.close());
  return gate;
}

/** Cuts all connections of the server; the new ones are the subject of the test. */
async function cutAll({ url }: RedisServer): Promise<void> {
  for (const type of ['pubsub', 'normal']) await redisCommand(url, 'CLIENT', 'KILL', 'TYPE', type);
}

describe('Redis accepts new connections and falls silent during their handshake', () => {
  it.each([
    ['HELLO', CONNECTIONS],
    ['INFO', CONNECTIONS],
    ['SUBSCRIBE', 1],
  ] as const)('at %s: everything works again soon after Redis does', async (step, silent) => {
    const redis = await startServer();
    await redisCommand(redis.url, 'ACL', 'SETUSER', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
    const gate = await openGate(redis.port);
    const connected = connect({ kind: 'single', url: gate.url, username: USER, password: PASSWORD });
    await connected.untilUsable();
    gate.silence(step);
    await cutAll(redis);
    await waitUntil(() => gate.silenced() >= silent, { what: 'the new connections to fall silent' });
    gate.silence();
    prove(`Redis falls silent at ${step}`, `usable again after ${await connected.untilUsable()} ms`);
  });

  it.each(['HELLO', 'SENTINEL'])(
    'of a Sentinel at %s: everything works again soon after it does',
    async (step) => {
      const redis = await startServer();
      const monitor = ['--sentinel', 'monitor', 'group', '127.0.0.1', `${redis.port}`, '1'];
      const gate = await openGate((await startServer(monitor, { sentinel: true })).port);
      const nodes = [{ host: '127.0.0.1', port: gate.port }];
      const connected = connect({ kind: 'sentinel', nodes, name: 'group' });
      await connected.untilUsable();
      gate.silence(step);
      await cutAll(redis);
      await waitUntil(() => gate.silenced() >= CONNECTIONS, { what: 'the searches to fall silent' });
      gate.silence();
      prove(`a Sentinel falls silent at ${step}`, `usable again after ${await connected.untilUsable()} ms`);
    },
  );

  it.each([
    ['HELLO', CONNECTIONS],
    ['CLUSTER', 1],
  ] as const)('of a Cluster at %s: everything works again soon after it does', async (step, silent) => {
    const port = await freePort();
    const gate = await openGate(port);
    const announced = ['--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', `${gate.port}`];
    const redis = await startServer(['--cluster-enabled', 'yes', ...announced], { port });
    await redisCommand(port, 'CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
    const nodes = [{ host: '127.0.0.1', port: gate.port }];
    const connected = connect({ kind: 'cluster', nodes });
    await connected.untilUsable();
    gate.silence(step);
    await cutAll(redis);
    await waitUntil(() => gate.silenced() >= silent, { what: 'the new connections to fall silent' });
    gate.silence();
    prove(`a Cluster falls silent at ${step}`, `usable again after ${await connected.untilUsable()} ms`);
  });

  it('during TLS: every connection is given up and tried again', async () => {
    let given = 0;
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        given += 1;
      });
      socket.resume();
    });
    const port = await listenOnFreePort(silent);
    cleanups.push(() => new Promise((resolve) => silent.close(resolve)));
    connect({ kind: 'single', url: `rediss://127.0.0.1:${port}` });
    await waitUntil(() => given > 2 * CONNECTIONS, { what: 'second attempts of all connections' });
  });
});
