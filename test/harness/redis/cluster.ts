import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { waitUntil } from '../wait-until.ts';
import { cliOf, ensureRedisServer } from './ensure-redis-server.ts';
import { infoFields, redisCommand, withRedis } from './redis-command.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

const run = promisify(execFile);
const HOST = '127.0.0.1';
const SLOTS = 16_384;

export type ClusterOptions = { masters?: number; replicas?: number; nodeTimeoutMs?: number };

/** A Redis Cluster on 127.0.0.1. */
export type ClusterTopology = {
  nodes: { host: string; port: number }[];
  servers: RedisServer[];
  /** The port of the node that serves `slot` now. */
  masterOf(slot: number): Promise<number>;
  /** SIGKILL for the master of `slot`; gives the server, for `restart()`. The failover follows by itself. */
  killMasterOf(slot: number): Promise<RedisServer>;
  /** SIGSTOP for the master of `slot`; gives the server, for `resume()`. The failover follows by itself. */
  pauseMasterOf(slot: number): Promise<RedisServer>;
  /**
   * Moves slots of one master to another one, one by one, as redis-cli does it, and waits until all nodes agree. `midway` runs
   * while the keys of the first lie on both.
   */
  moveSlots(slots: readonly number[], midway: () => Promise<unknown>): Promise<void>;
  /** SIGKILL for the master of `slot`, for good: its replica takes over, and a new node follows that one. */
  replaceMasterOf(slot: number): Promise<void>;
  /**
   * Waits until every node that is neither killed nor paused says that the cluster is ok and follows a master or is one, and
   * until they agree that all slots lie with such nodes. So right after a kill it waits for the failover.
   */
  waitOk(): Promise<void>;
  stop(): Promise<void>;
};

/** Starts `masters * (1 + replicas)` nodes and joins them with redis-cli; ready for commands and for a failover. */
export async function startCluster(options: ClusterOptions = {}): Promise<ClusterTopology> {
  const { masters = 3, replicas = 1, nodeTimeoutMs = 2_000 } = options;
  const binary = await ensureRedisServer();
  if (!binary) throw new Error('a cluster needs a redis-server binary, and there is none');
  const cli = cliOf(binary);
  if (!cli) throw new Error(`a cluster needs redis-cli, and there is none beside ${binary}`);
  const servers: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  const args = clusterRules(nodeTimeoutMs);
  try {
    const starts = Array.from({ length: masters * (1 + replicas) }, async () => {
      servers.push(await startRedis({ binary, args }));
    });
    const failed = (await Promise.allSettled(starts)).find((start) => start.status === 'rejected');
    if (failed) throw failed.reason;
    const addresses = servers.map((server) => `${HOST}:${server.port}`);
    const join = ['create', ...addresses, '--cluster-replicas', `${replicas}`, '--cluster-yes'];
    const manage = (words: readonly string[]) => run(cli, ['--cluster', ...words], { timeout: 60_000 });
    await manage(join);
    const cluster = topology(servers, () => startRedis({ binary, args }), manage);
    await cluster.waitOk();
    return { ...cluster, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function clusterRules(nodeTimeoutMs: number): string[] {
  return [
    ...['--cluster-enabled', 'yes'],
    ...['--cluster-node-timeout', `${nodeTimeoutMs}`],
    // A replica may take over however long its master has been away: tests freeze masters on a slow machine.
    ...['--cluster-replica-validity-factor', '0'],
    ...['--cluster-allow-replica-migration', 'no'],
    ...['--repl-diskless-sync-delay', '0'],
  ];
}

function topology(
  servers: RedisServer[],
  startNode: () => Promise<RedisServer>,
  manage: (words: readonly string[]) => Promise<unknown>,
): Omit<ClusterTopology, 'stop'> {
  const awake = () => servers.filter((server) => server.running && !server.paused);
  const masterOf = async (slot: number) => {
    for (const server of awake()) {
      const owner = (await nodesSeenBy(server.port)).find((node) =>
        node.slots.some(([a, b]) => a <= slot && slot <= b),
      );
      if (owner) return owner.port;
    }
    throw new Error(`no node knows who serves slot ${slot}`);
  };
  const serverOf = async (slot: number) => {
    const port = await masterOf(slot);
    const server = servers.find((candidate) => candidate.port === port);
    if (!server) throw new Error(`slot ${slot} lies with a node that is not ours: ${port}`);
    return server;
  };
  const waitOk = () =>
    waitUntil(
      async () => {
        const ports = awake().map((server) => server.port);
        const faults = await Promise.all(ports.map((port) => faultSeenBy(port, ports)));
        const fault = faults.find((text) => text !== undefined) ?? (await disputeOf(ports));
        if (fault !== undefined) throw new Error(fault);
        return true;
      },
      { what: 'the cluster to be ok', timeoutMs: 90_000, everyMs: 250 },
    );
  return {
    nodes: servers.map(({ port }) => ({ host: HOST, port })),
    servers,
    masterOf,
    async killMasterOf(slot) {
      const server = await serverOf(slot);
      await server.kill9();
      return server;
    },
    async pauseMasterOf(slot) {
      const server = await serverOf(slot);
      server.pause();
      return server;
    },
    async moveSlots(slots, midway) {
      const [first] = slots;
      if (first === undefined) throw new Error('there is no slot to move');
      const from = await masterOf(first);
      const masters = await mastersSeenBy(from);
      const to = masters.find((port) => port !== from);
      if (to === undefined) throw new Error(`there is no master beside ${from}`);
      await moveBetween(from, to, masters, slots, midway);
      await waitOk();
    },
    async replaceMasterOf(slot) {
      const dead = await serverOf(slot);
      const deadId = await idOf(dead.port);
      await dead.kill9();
      await waitOk();
      for (const { port } of awake()) await redisCommand(port, 'CLUSTER', 'FORGET', deadId);
      const fresh = await startNode();
      servers.splice(servers.indexOf(dead), 1, fresh);
      await dead.stop();
      const master = await masterOf(slot);
      const follow = ['--cluster-slave', '--cluster-master-id', await idOf(master)];
      await manage(['add-node', `${HOST}:${fresh.port}`, `${HOST}:${master}`, ...follow]);
      await waitOk();
    },
    waitOk: async () => void (await waitOk()),
  };
}

const idOf = async (port: number) => String(await redisCommand(port, 'CLUSTER', 'MYID'));

async function moveBetween(
  from: number,
  to: number,
  masters: readonly number[],
  slots: readonly number[],
  midway: () => Promise<unknown>,
): Promise<void> {
  const [fromId, toId] = await Promise.all([idOf(from), idOf(to)]);
  await withRedis(from, async (redis) => {
    const move = async (slot: number, keysMax: number) => {
      const keys = (await redis.call('CLUSTER', 'GETKEYSINSLOT', slot, keysMax)) as string[];
      if (keys.length > 0) await redis.call('MIGRATE', HOST, to, '', 0, 10_000, 'KEYS', ...keys);
      return keys.length > 0;
    };
    for (const [index, slot] of slots.entries()) {
      await redisCommand(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
      await redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
      await move(slot, 1);
      if (index === 0) await midway();
      while (await move(slot, 100));
      // The one that receives the slot first, so that no moment is without an owner.
      const others = masters.filter((port) => port !== to);
      for (const port of [to, ...others]) await redisCommand(port, 'CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    }
  });
}

async function mastersSeenBy(port: number): Promise<number[]> {
  return (await nodesSeenBy(port)).filter(({ slots }) => slots.length > 0).map((node) => node.port);
}

type SeenNode = { port: number; epoch: string; slots: [number, number][]; text: string };

/** Lines of CLUSTER NODES: `id ip:port@bus flags master ping pong epoch link slot-slot ...`. */
async function nodesSeenBy(port: number): Promise<SeenNode[]> {
  const lines = String(await redisCommand(port, 'CLUSTER', 'NODES'))
    .trim()
    .split('\n');
  return lines.map((line) => {
    const [, address = '', , , , , epoch = '', , ...ranges] = line.trim().split(' ');
    const slots = ranges
      .filter((range) => /^\d/.test(range))
      .map((range): [number, number] => {
        const [first = -1, last = first] = range.split('-').map(Number);
        return [first, last];
      });
    return { port: Number(/:(\d+)@/.exec(address)?.[1]), epoch, slots, text: line };
  });
}

async function faultSeenBy(port: number, awake: number[]): Promise<string | undefined> {
  const seen = await nodesSeenBy(port);
  const state = infoFields(await redisCommand(port, 'CLUSTER', 'INFO')).cluster_state;
  if (state !== 'ok') return `${port} says ${state}, and sees ${seen.map(({ text }) => text).join('; ')}`;
  const owners = seen.filter((node) => node.slots.length > 0);
  const asleep = owners.find((node) => !awake.includes(node.port));
  if (asleep) return `${port} says that ${asleep.port} still serves slots`;
  const served = owners
    .flatMap((node) => node.slots)
    .reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (served !== SLOTS) return `${port} knows who serves ${served} slots`;
  const { role, master_link_status } = infoFields(await redisCommand(port, 'INFO', 'replication'));
  const serves = owners.some((node) => node.port === port);
  if (!serves && (role !== 'slave' || master_link_status !== 'up')) return `${port} follows no master`;
  return undefined;
}

/**
 * Where nodes disagree about who serves which slots, and since which epoch. A restarted master believes for a moment that it
 * serves its slots. Two masters that take slots before they have heard of each other take the same epoch, and a replica
 * that heard of the wrong one first never learns of the slot: after its own promotion nobody serves it.
 */
async function disputeOf(ports: readonly number[]): Promise<string | undefined> {
  const views = await Promise.all(
    ports.map(async (port) => {
      const owners = (await nodesSeenBy(port)).filter(({ slots }) => slots.length > 0);
      return owners.map((node) => `${node.port} since ${node.epoch}: ${node.slots.join(' ')}`).toSorted();
    }),
  );
  const other = views.findIndex((view) => `${view}` !== `${views[0]}`);
  return other < 0 ? undefined : `${ports[0]} sees ${views[0]}, and ${ports[other]} sees ${views[other]}`;
}
