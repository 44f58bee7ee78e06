/**
 * Finds out why a Redis cannot be used, for the start of a service and for `parley doctor`. The wording of faults is in
 * `fault.ts`.
 */

import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Redis } from 'ioredis';
import type { RedisDiagnosis, RedisFault, RedisState } from '../../ports/redis-diagnosis.ts';
import type { RedisLocation, RedisNode } from '../../ports/redis-location.ts';
import { probeChannel, writeProbeKey } from '../client/keys.ts';
import { ServerConnector } from '../client/server-connector.ts';
import { serverNameOf } from '../client/server-name.ts';
import {
  clusterIsDown,
  type DiagnosisStep,
  explainFault,
  explainVersion,
  isReplica,
  type SettingNames,
  settingsOfList,
  settingsOfUrl,
  unknownMaster,
} from './fault.ts';

interface DiagnoseOptions {
  /** True for a Redis that only stores credentials, so that it needs no channels. */
  readonly isVault?: boolean;
  /** The time limit of each step, in ms. */
  readonly timeoutMs?: number;
}

interface Login {
  readonly username?: string;
  readonly password?: string;
}

const TIMEOUT_MS = 2_000;
const DEFAULT_PORT = 6_379;

/**
 * Diagnoses a Redis over separate connections, step by step: name, TCP, TLS, password, version, role. Of several nodes or
 * Sentinels, the result is that of the first usable one, or else of the first one. Rejects for an invalid URL.
 */
export async function diagnose(
  location: RedisLocation,
  { isVault = false, timeoutMs = TIMEOUT_MS }: DiagnoseOptions = {},
): Promise<RedisDiagnosis> {
  const settings =
    location.kind === 'single'
      ? settingsOfUrl(isVault ? 'PARLEY_VAULT_REDIS_URL' : 'REDIS_URL')
      : settingsOfList('PARLEY_REDIS');
  const [isTls, login] = [usesTls(location), loginOf(location)];
  const found = await Promise.all(
    nodesOf(location).map((node) => {
      const target = { node, isTls, login, settings, isVault, timeoutMs };
      return location.kind === 'sentinel'
        ? diagnoseSentinel(location, target)
        : diagnoseServer(location, target);
    }),
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
  // As in ioredis, credentials in the URL have priority.
  const name = decodeURIComponent(inUrl?.username ?? '') || (username ?? '');
  const secret = decodeURIComponent(inUrl?.password ?? '') || (password ?? '');
  return { ...(name !== '' && { username: name }), ...(secret !== '' && { password: secret }) };
}

const usesTls = ({ tls, url }: RedisLocation) => tls === true || url?.startsWith('rediss:') === true;

/** A server to diagnose, and how to connect to it. */
interface Target {
  readonly node: RedisNode;
  readonly isTls: boolean;
  readonly login: Login;
  readonly settings: SettingNames;
  readonly isVault: boolean;
  readonly timeoutMs: number;
}

async function diagnoseServer(location: RedisLocation, target: Target): Promise<RedisDiagnosis> {
  const address = addressOf(target.node);
  const facts = await ask(target, async (redis) => {
    const info = await infoOf(redis);
    const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
    const tooOld = explainVersion(address, field('redis_version'));
    if (tooOld !== undefined) return { fault: tooOld };
    // Apart from reads, a pod needs to write its keys and to use its channels.
    const isDown =
      location.kind === 'cluster' ? await isClusterDown(redis) : await redis.del(writeProbeKey());
    if (!target.isVault) await redis.publish(probeChannel('diagnosis'), '');
    const [seconds] = await redis.time();
    const commandMs = await timeOf(() => redis.time());
    const [server, evictionPolicy] = [nameOf(field), field('maxmemory_policy')];
    return {
      timeMs: Number(seconds) * 1_000,
      state: stateOf(field, commandMs),
      ...(server !== undefined && { server }),
      ...(evictionPolicy !== undefined && { evictionPolicy }),
      ...(isDown === true && { fault: clusterIsDown(address) }),
      ...(location.kind !== 'cluster' && field('role') === 'slave' && { fault: isReplica(address) }),
    };
  });
  return { address, ...facts };
}

/** The INFO of a server; empty when the user may not call it. Pods do not need it. */
async function infoOf(redis: Redis): Promise<string> {
  try {
    return await redis.info();
  } catch (error) {
    if (String(error).includes('NOPERM')) return '';
    throw error;
  }
}

/** The duration of one command on a connection that has already been used. */
async function timeOf(command: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await command();
  return performance.now() - begun;
}

/** The server's memory, disk and counters, from the fields of INFO. */
function stateOf(field: (name: string) => string | undefined, commandMs: number): RedisState {
  const number = (name: string) => (field(name) === undefined ? undefined : Number(field(name)));
  const [used, max] = [number('used_memory'), number('maxmemory') || undefined];
  const [evictedKeys, refusedConnections] = [number('evicted_keys'), number('rejected_connections')];
  const writes = ['aof_last_write_status', 'aof_last_bgrewrite_status', 'rdb_last_bgsave_status'];
  return {
    ...(used !== undefined && { usedMemoryBytes: used }),
    ...(max !== undefined && { maxMemoryBytes: max }),
    ...(field('aof_enabled') !== undefined && { usesAof: field('aof_enabled') === '1' }),
    writesFail: writes.some((name) => field(name) === 'err'),
    ...(evictedKeys !== undefined && { evictedKeys }),
    ...(refusedConnections !== undefined && { refusedConnections }),
    commandMs,
  };
}

/**
 * The product and version of a server. In addition to its own version, Valkey reports the Redis version with which it is
 * compatible.
 */
function nameOf(field: (name: string) => string | undefined): string | undefined {
  const [valkey, redis] = [field('valkey_version'), field('redis_version')];
  if (valkey !== undefined) return `Valkey ${valkey}`;
  return redis === undefined ? undefined : `Redis ${redis}`;
}

async function isClusterDown(redis: Redis): Promise<boolean> {
  return /^cluster_state:fail/m.test(String(await redis.call('CLUSTER', 'INFO')));
}

async function diagnoseSentinel(location: RedisLocation, target: Target): Promise<RedisDiagnosis> {
  const { name = 'mymaster', sentinelUsername: username, sentinelPassword: password } = location;
  const address = addressOf(target.node);
  const login = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  const settings = settingsOfList('PARLEY_REDIS_SENTINELS');
  const found = await ask({ ...target, login, settings }, async (sentinel) => {
    const master = await sentinel.call('SENTINEL', 'get-master-addr-by-name', name);
    return Array.isArray(master)
      ? { master: { host: String(master[0]), port: Number(master[1]) } }
      : { fault: unknownMaster(address, name) };
  });
  return 'master' in found
    ? diagnoseServer(location, { ...target, node: found.master })
    : { address, ...found };
}

/** Asks one server over a temporary connection, or explains why it cannot be asked. */
async function ask<Found extends object>(
  { node, isTls, login, settings, timeoutMs }: Target,
  questions: (redis: Redis) => Promise<Found>,
): Promise<Found | { readonly fault: RedisFault }> {
  const explain = (step: DiagnosisStep, error: unknown) => ({
    fault: explainFault(addressOf(node), step, error, settings),
  });
  const unreached = await reach(node, isTls, timeoutMs);
  if (unreached !== undefined) return explain(unreached.step, unreached.error);
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
  // ioredis rejects with "Connection is closed."; only the preceding event gives the cause.
  let cause: unknown;
  redis.on('error', (error) => {
    cause ??= error;
  });
  try {
    await redis.connect();
    return await questions(redis);
  } catch (error) {
    return explain(isTls ? 'commands over TLS' : 'commands', cause ?? error);
  } finally {
    redis.disconnect();
  }
}

interface Unreached {
  readonly step: 'tcp' | 'tls';
  readonly error: unknown;
}

/** Opens and closes a connection. Resolves with the failed step, if one failed. */
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
