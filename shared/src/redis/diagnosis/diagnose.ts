import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Redis } from 'ioredis';
import type { RedisDiagnosis, RedisFault } from '../../ports/redis-diagnosis.ts';
import type { RedisLocation, RedisNode } from '../../ports/redis-location.ts';
import { probeChannel, writeProbeKey } from '../client/keys.ts';
import { ServerConnector } from '../client/server-connector.ts';
import { serverNameOf } from '../client/server-name.ts';
import { explainFault, explainVersion, isReplica, unknownMaster } from './fault.ts';

interface Login {
  readonly username?: string;
  readonly password?: string;
}

const TIMEOUT_MS = 2_000;
const DEFAULT_PORT = 6_379;

/**
 * Looks at a Redis over connections of its own, step by step: name, TCP, TLS, password, version, role. Of several nodes or
 * Sentinels the first that can be used is reported, else the first. Each step takes at most `timeoutMs`. Rejects for a URL
 * that is none.
 */
export async function diagnose(location: RedisLocation, timeoutMs = TIMEOUT_MS): Promise<RedisDiagnosis> {
  const found = await Promise.all(
    nodesOf(location).map((node) =>
      location.kind === 'sentinel'
        ? diagnoseSentinel(location, node, timeoutMs)
        : diagnoseServer(location, node, timeoutMs),
    ),
  );
  const [first = { address: 'Redis', fault: explainFault('Redis', 'tcp', undefined) }] = found;
  return found.find(({ fault }) => fault === undefined) ?? first;
}

function nodesOf({ kind, url, nodes = [] }: RedisLocation): readonly RedisNode[] {
  if (kind !== 'single') return nodes;
  const { hostname, port } = new URL(url ?? 'redis://127.0.0.1');
  return [{ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || DEFAULT_PORT) }];
}

function loginOf({ url, username, password }: RedisLocation): Login {
  const inUrl = url === undefined ? undefined : new URL(url);
  // As ioredis has it, what stands in the URL comes first.
  const name = decodeURIComponent(inUrl?.username ?? '') || (username ?? '');
  const secret = decodeURIComponent(inUrl?.password ?? '') || (password ?? '');
  return { ...(name !== '' && { username: name }), ...(secret !== '' && { password: secret }) };
}

const usesTls = ({ tls, url }: RedisLocation) => tls === true || url?.startsWith('rediss:') === true;

async function diagnoseServer(
  location: RedisLocation,
  node: RedisNode,
  timeoutMs: number,
): Promise<RedisDiagnosis> {
  const address = addressOf(node);
  const facts = await ask(node, usesTls(location), loginOf(location), timeoutMs, async (redis) => {
    const info = await redis.info();
    if (location.kind === 'cluster') await redis.call('CLUSTER', 'INFO');
    // What a pod needs beside reads: writes to its keys, and its channels.
    else await redis.del(writeProbeKey());
    await redis.publish(probeChannel('diagnosis'), '');
    const [seconds] = await redis.time();
    const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
    const [version, evictionPolicy] = [field('redis_version'), field('maxmemory_policy')];
    const fault =
      explainVersion(address, version) ??
      (location.kind !== 'cluster' && field('role') === 'slave' ? isReplica(address) : undefined);
    return {
      timeMs: Number(seconds) * 1_000,
      ...(version !== undefined && { version }),
      ...(evictionPolicy !== undefined && { evictionPolicy }),
      ...(fault !== undefined && { fault }),
    };
  });
  return { address, ...facts };
}

async function diagnoseSentinel(
  location: RedisLocation,
  node: RedisNode,
  timeoutMs: number,
): Promise<RedisDiagnosis> {
  const { name = 'mymaster', sentinelUsername: username, sentinelPassword: password } = location;
  const address = addressOf(node);
  const own = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  const found = await ask(node, usesTls(location), own, timeoutMs, async (sentinel) => {
    const master = await sentinel.call('SENTINEL', 'get-master-addr-by-name', name);
    return Array.isArray(master)
      ? { master: { host: String(master[0]), port: Number(master[1]) } }
      : { fault: unknownMaster(address, name) };
  });
  return 'master' in found ? diagnoseServer(location, found.master, timeoutMs) : { address, ...found };
}

/** Asks one server over a connection that is closed then, or explains why it cannot be asked. */
async function ask<Found extends object>(
  node: RedisNode,
  isTls: boolean,
  login: Login,
  timeoutMs: number,
  questions: (redis: Redis) => Promise<Found>,
): Promise<Found | { readonly fault: RedisFault }> {
  const address = addressOf(node);
  const unreached = await reach(node, isTls, timeoutMs);
  if (unreached !== undefined) return { fault: explainFault(address, unreached.step, unreached.error) };
  const redis = new Redis({
    ...node,
    ...login,
    ...(isTls && { tls: {} }),
    Connector: ServerConnector,
    connectionName: 'parley-diagnosis',
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
  });
  // ioredis rejects with "Connection is closed."; the event before it says why.
  let cause: unknown;
  redis.on('error', (error) => {
    cause ??= error;
  });
  try {
    await redis.connect();
    return await questions(redis);
  } catch (error) {
    return { fault: explainFault(address, isTls ? 'commands over TLS' : 'commands', cause ?? error) };
  } finally {
    redis.disconnect();
  }
}

interface Unreached {
  readonly step: 'tcp' | 'tls';
  readonly error: unknown;
}

/** Opens a connection and closes it. Resolves with the step that failed, if one did. */
function reach({ host, port }: RedisNode, isTls: boolean, timeoutMs: number): Promise<Unreached | undefined> {
  return new Promise((resolve) => {
    let step: Unreached['step'] = 'tcp';
    const end = (unreached?: Unreached) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(unreached);
    };
    const timer = setTimeout(() => end({ step, error: undefined }), timeoutMs);
    const socket = isTls ? connectTls({ host, port, ...serverNameOf(host) }) : connectTcp({ host, port });
    socket.once('error', (error) => end({ step, error }));
    socket.once('connect', () => {
      step = 'tls';
      if (!isTls) end();
    });
    socket.once('secureConnect', () => end());
  });
}

function addressOf({ host, port }: RedisNode): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
