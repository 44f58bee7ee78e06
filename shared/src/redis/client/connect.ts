/**
 * Opens every connection to Redis, with the right reaction to outages for its purpose. Scripts and subscriptions are elsewhere.
 */

import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisLocation, RedisNode } from '../../ports/redis-location.ts';
import { reconnectPauseMs } from './reconnect.ts';
import { PersistentSentinelConnector } from './sentinel-connector.ts';
import { ServerConnector } from './server-connector.ts';
import { serverNameOf } from './server-name.ts';
import { readBeforeTimeouts } from './timeouts.ts';

readBeforeTimeouts();

// ioredis types its reply mapping as never undefined, so the option is omitted; its default is used everywhere.
type Options = Omit<RedisOptions, 'replyMapping'>;

/** A connection for commands, on one server or on a Cluster. */
export type Commands = Redis | Cluster;

// ioredis gives a socket two seconds to close by itself, which a half-open socket never does.
const DISCONNECT_TIMEOUT_MS = 250;
const SENTINEL_TIMEOUT_MS = 1_000;

// A request fails within seconds instead of queueing. A command that timed out may still have run, and callers expect that.
const FAIL_FAST = {
  maxRetriesPerRequest: 1,
  enableOfflineQueue: false,
  commandTimeout: 2_000,
  socketTimeout: 3_000,
  connectTimeout: 1_000,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
} as const satisfies Options;

// BullMQ's blocking reads must neither time out as commands nor give up.
const PATIENT = {
  maxRetriesPerRequest: null,
  connectTimeout: 2_000,
  socketTimeout: 15_000,
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
} as const satisfies Options;

/** Connects the request path, which fails fast while Redis is unavailable. */
export function connectCommands(location: RedisLocation): Commands {
  return open(location, { ...FAIL_FAST, connectionName: 'parley-commands' });
}

/**
 * Resolves when the first attempt to connect has ended, with or without success, and at the latest when a command would time
 * out. Commands sent earlier fail at once, although Redis may be available.
 */
export function firstAttempt(connection: Commands): Promise<void> {
  const events = ['ready', 'error', 'close'];
  return new Promise((resolve) => {
    function end(): void {
      clearTimeout(timer);
      for (const event of events) connection.off(event, end);
      resolve();
    }
    const timer = setTimeout(end, FAIL_FAST.commandTimeout);
    for (const event of events) connection.once(event, end);
    if (connection.status === 'ready') end();
  });
}

/** Connects producers of BullMQ jobs. They fail fast too, so that a timer that cannot be scheduled is counted, not queued. */
export function connectProducer(location: RedisLocation): Commands {
  // Nobody waits for a timer to be added, so the commands of one turn of the event loop share a write.
  return open(location, { ...FAIL_FAST, enableAutoPipelining: true, connectionName: 'parley-timers' });
}

/** Connects BullMQ workers, which wait for Redis as long as necessary. */
export function connectWorker(location: RedisLocation): Commands {
  return open(location, { ...PATIENT, connectionName: 'parley-worker' });
}

/**
 * Opens one connection for subscriptions. It does not reconnect by itself, because the subscriber opens a new one and so knows
 * which channels it has subscribed. On a Cluster any node will do: `attempt` selects another of the discovered and configured
 * nodes.
 */
export function connectSubscriber(location: RedisLocation, commands: Commands, attempt: number): Redis {
  const options: Options = {
    ...authOf(location),
    connectionName: 'parley-subscriber',
    retryStrategy: () => null,
    autoResubscribe: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: 2_000,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    lazyConnect: true,
  };
  if (location.kind !== 'cluster') return openServer(location, options);
  const nodes = [...discoveredNodes(commands), ...(location.nodes ?? [])];
  const node = nodes[attempt % nodes.length];
  return new Redis({ ...options, ...node, ...tlsOf(location), Connector: ServerConnector });
}

function discoveredNodes(commands: Commands): RedisNode[] {
  if (!(commands instanceof Cluster)) return [];
  return commands.nodes().flatMap(({ options: { host, port } }) => (host && port ? [{ host, port }] : []));
}

function open(location: RedisLocation, options: Options): Commands {
  const connection =
    location.kind === 'cluster'
      ? openCluster(location, options)
      : openServer(location, { ...authOf(location), ...options, retryStrategy: reconnectPauseMs });
  // The connection reconnects by itself, and its commands fail until then. Without a listener, ioredis prints each error.
  return connection.on('error', () => undefined);
}

function openCluster(location: RedisLocation, options: Options): Cluster {
  const { enableOfflineQueue: _queue, ...redisOptions } = options;
  return new Cluster([...(location.nodes ?? [])], {
    clusterRetryStrategy: reconnectPauseMs,
    enableOfflineQueue: options.maxRetriesPerRequest === null,
    slotsRefreshTimeout: 2_000,
    slotsRefreshInterval: 5_000,
    retryDelayOnClusterDown: 100,
    retryDelayOnFailover: 100,
    // Host names are resolved only when a socket is opened, because certificates name hosts, and a name may lead to another
    // address later.
    dnsLookup: (name, done) => done(null, name),
    redisOptions: { ...redisOptions, ...authOf(location), ...tlsOf(location), Connector: ServerConnector },
  });
}

function openServer(location: RedisLocation, options: Options): Redis {
  if (location.kind === 'single')
    return new Redis(location.url ?? 'redis://127.0.0.1:6379', {
      ...options,
      ...tlsOf(location),
      reconnectOnError: reconnectFromReplica(options),
      Connector: ServerConnector,
    });
  return new Redis({
    ...options,
    ...tlsOf(location),
    // Without these two options, ioredis ignores `tls` here and connects without encryption.
    ...(location.tls === true && {
      enableTLSForSentinelMode: true,
      sentinelTLS: {},
      natMap: (address: string) => withServerName(address),
    }),
    ...(location.sentinelUsername !== undefined && { sentinelUsername: location.sentinelUsername }),
    ...(location.sentinelPassword !== undefined && { sentinelPassword: location.sentinelPassword }),
    sentinels: [...(location.nodes ?? [])],
    name: location.name ?? 'mymaster',
    failoverDetector: true,
    Connector: PersistentSentinelConnector,
    reconnectOnError: reconnectFromReplica(options),
    sentinelRetryStrategy: reconnectPauseMs,
    sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
  });
}

/**
 * Decides, for ioredis, about a reconnect after an error reply. A demoted master replies READONLY and keeps its connections
 * open, so they are opened again to the present master. 2: the command, which was not executed, is sent again there. 1: a
 * connection that fails fast passes the error on.
 */
function reconnectFromReplica({ maxRetriesPerRequest }: Options): (error: Error) => 1 | 2 | false {
  const reaction = maxRetriesPerRequest === null ? 2 : 1;
  return (error) => (error.message.startsWith('READONLY') ? reaction : false);
}

/** The address of a master as a Sentinel gives it, plus the server name that TLS needs; ioredis passes both to the socket. */
function withServerName(address: string): RedisNode {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon);
  return { host, port: Number(address.slice(colon + 1)), ...serverNameOf(host) };
}

function authOf({ username, password }: RedisLocation): Options {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
}

function tlsOf({ tls }: RedisLocation): Options {
  return tls === true ? { tls: {} } : {};
}
