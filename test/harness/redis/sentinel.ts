import { waitUntil } from '../wait-until.ts';
import { ensureRedisServer } from './ensure-redis-server.ts';
import { infoFields, redisCommand } from './redis-command.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

export type SentinelOptions = {
  /** `min-replicas-to-write` on every server, with a lag of 2 s; 0 by default. */
  minReplicas?: number;
  downAfterMs?: number;
};

/** A master with two replicas, watched by three Sentinels; everything on 127.0.0.1. */
export type SentinelTopology = {
  sentinels: { host: string; port: number }[];
  /** The master's name, as clients ask the Sentinels for it. */
  name: string;
  /** Master and replicas, in no lasting order: to restart or resume one. */
  servers: RedisServer[];
  /** The master that most Sentinels name now; rejects while they do not agree. */
  masterPort(): Promise<number>;
  /** SIGKILL for the master; gives the server, for `restart()`. The failover follows by itself. */
  killMaster(): Promise<RedisServer>;
  /** SIGSTOP for the master; gives the server, for `resume()`. The failover follows by itself. */
  pauseMaster(): Promise<RedisServer>;
  /** A planned failover, as an operator does it: resolves with the new master's port when it is in charge. */
  failover(): Promise<number>;
  /** Waits until every Sentinel names one master other than `old`, and that one says it is; gives its port. */
  newMaster(old: number): Promise<number>;
  stop(): Promise<void>;
};

const NAME = 'parley-test';
const HOST = '127.0.0.1';
const QUORUM = 2;

/** Starts the topology and waits until the Sentinels see both replicas and each other, so that a failover can work. */
export async function startSentinel(options: SentinelOptions = {}): Promise<SentinelTopology> {
  const binary = await ensureRedisServer();
  if (!binary) throw new Error('Sentinel needs a redis-server binary, and there is none');
  const started: RedisServer[] = [];
  const stop = async () => {
    await Promise.all(started.map((server) => server.stop()));
  };
  const start = async (args: string[], sentinel: boolean) => {
    const server = await startRedis({ binary, args, sentinel });
    started.push(server);
    return server;
  };
  try {
    const writeRule = [
      '--min-replicas-to-write',
      `${options.minReplicas ?? 0}`,
      '--min-replicas-max-lag',
      '2',
    ];
    const common = [...writeRule, '--repl-diskless-sync-delay', '0'];
    const master = await start(common, false);
    const replicaOf = [...common, '--replicaof', HOST, `${master.port}`];
    const replicas = await Promise.all([start(replicaOf, false), start(replicaOf, false)]);
    const watch = watchRules(master.port, options.downAfterMs ?? 1_000);
    const sentinels = await Promise.all([start(watch, true), start(watch, true), start(watch, true)]);
    const ports = sentinels.map((sentinel) => sentinel.port);
    await waitUntil(async () => (await Promise.all(ports.map(seesAll))).every(Boolean), {
      what: 'the Sentinels to see two replicas and each other',
      timeoutMs: 30_000,
      everyMs: 250,
    });
    return { ...topology([master, ...replicas], ports), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function topology(servers: RedisServer[], sentinelPorts: number[]): Omit<SentinelTopology, 'stop'> {
  const masterPort = async () => {
    const named = await Promise.allSettled(sentinelPorts.map(namedBy));
    const ports = named.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const agreed = ports.find((port) => ports.filter((other) => other === port).length >= QUORUM);
    if (agreed === undefined) throw new Error(`the Sentinels name no common master: ${ports.join(', ')}`);
    return agreed;
  };
  const master = async () => {
    const port = await masterPort();
    const server = servers.find((candidate) => candidate.port === port);
    if (!server) throw new Error(`the Sentinels name a master that is not ours: ${port}`);
    return server;
  };
  const newMaster = (old: number) =>
    waitUntil(
      async () => {
        const named = await Promise.all(sentinelPorts.map(namedBy));
        const [port] = named;
        if (port === undefined || port === old || named.some((other) => other !== port)) return false;
        return infoFields(await redisCommand(port, 'INFO', 'replication')).role === 'master' && port;
      },
      { what: `a master other than ${old}`, timeoutMs: 90_000, everyMs: 250 },
    );
  return {
    sentinels: sentinelPorts.map((port) => ({ host: HOST, port })),
    name: NAME,
    servers,
    masterPort,
    newMaster,
    async killMaster() {
      const server = await master();
      await server.kill9();
      return server;
    },
    async pauseMaster() {
      const server = await master();
      server.pause();
      return server;
    },
    async failover() {
      const old = await masterPort();
      const [first] = sentinelPorts;
      if (first === undefined) throw new Error('no Sentinels');
      // Refused with NOGOODSLAVE or INPROG while the Sentinel has no fresh news of the replicas, or is at it; and what it
      // took up comes to nothing when the replica that it chose is slow to turn.
      await waitUntil(
        async () => {
          if ((await namedBy(first)) !== old) return true;
          await redisCommand(first, 'SENTINEL', 'FAILOVER', NAME).catch(() => undefined);
          return false;
        },
        { what: 'the Sentinel to fail over as ordered', everyMs: 500, timeoutMs: 120_000 },
      );
      return newMaster(old);
    },
  };
}

function watchRules(masterPort: number, downAfterMs: number): string[] {
  const rule = (...words: (string | number)[]) => ['--sentinel', ...words.map(String)];
  return [
    ...rule('monitor', NAME, HOST, masterPort, QUORUM),
    ...rule('down-after-milliseconds', NAME, downAfterMs),
    // Twice this time is also the pause after a vote without a winner: the default of three minutes outlasts any test.
    ...rule('failover-timeout', NAME, 4_000),
    ...rule('parallel-syncs', NAME, 2),
  ];
}

async function namedBy(sentinelPort: number): Promise<number> {
  const reply = await redisCommand(sentinelPort, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
  return Array.isArray(reply) ? Number(reply[1]) : Number.NaN;
}

async function seesAll(sentinelPort: number): Promise<boolean> {
  const master = pairs(await redisCommand(sentinelPort, 'SENTINEL', 'MASTER', NAME));
  const replies = await redisCommand(sentinelPort, 'SENTINEL', 'REPLICAS', NAME);
  const replicas = Array.isArray(replies) ? replies.map(pairs) : [];
  return (
    master.flags === 'master' &&
    master['num-other-sentinels'] === '2' &&
    replicas.length === 2 &&
    replicas.every((replica) => replica.flags === 'slave' && replica['master-link-status'] === 'ok')
  );
}

/** Sentinel describes things as flat name-value lists (RESP2) or maps (RESP3). */
function pairs(reply: unknown): Record<string, string> {
  if (!Array.isArray(reply))
    return Object.fromEntries(Object.entries(reply ?? {}).map(([k, v]) => [k, String(v)]));
  const fields: Record<string, string> = {};
  for (let i = 0; i + 1 < reply.length; i += 2) fields[String(reply[i])] = String(reply[i + 1]);
  return fields;
}
