import { Cluster } from 'ioredis';
import {
  type InstallationReader,
  type QueueCounts,
  SERVERS_MAX,
  type StoreServer,
} from '../ports/installation.ts';
import type { Commands } from './client/connect.ts';
import { orUnavailable } from './client/unavailable.ts';
import { EXPIRY_QUEUE, timerPrefix } from './jobs/timers.ts';
import { readWorkers } from './jobs/worker-notes.ts';
import { RUNS_PREFIX, RUNS_QUEUE } from './runs/run-queue.ts';

interface RedisInstallationDeps {
  readonly redis: Commands;
  readonly timerQueues: number;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Reads the queues of BullMQ, the notes of workers and the servers' INFO. */
export function createRedisInstallation({
  redis,
  timerQueues,
  onError,
}: RedisInstallationDeps): InstallationReader {
  async function countsOf(name: string, prefixes: readonly string[]): Promise<QueueCounts> {
    const counted = async (count: (key: string) => Promise<number>, list: string) => {
      const counts = await Promise.all(prefixes.map((prefix) => count(`${prefix}:${name}:${list}`)));
      return counts.reduce((sum, one) => sum + one, 0);
    };
    const ofList = (key: string) => redis.llen(key);
    const ofSet = (key: string) => redis.zcard(key);
    const [waiting, active, delayed, failed] = await Promise.all([
      counted(ofList, 'wait'),
      counted(ofList, 'active'),
      counted(ofSet, 'delayed'),
      counted(ofSet, 'failed'),
    ]);
    return { name, waiting, active, delayed, failed };
  }

  return {
    queues: () =>
      orUnavailable(
        () =>
          Promise.all([
            countsOf(
              EXPIRY_QUEUE,
              Array.from({ length: timerQueues }, (_, index) => timerPrefix(index)),
            ),
            countsOf(RUNS_QUEUE, [RUNS_PREFIX]),
          ]),
        onError,
      ),
    workers: () => orUnavailable(() => readWorkers(redis), onError),
    servers() {
      const nodes = redis instanceof Cluster ? redis.nodes('master').slice(0, SERVERS_MAX) : [redis];
      return Promise.all(nodes.map(serverOf));
    },
  };
}

/** A server's own report; nearly empty if it does not answer, or its user may not call INFO. */
async function serverOf(node: Pick<Commands, 'info'>): Promise<StoreServer> {
  const sections = await Promise.all(
    ['server', 'replication', 'memory'].map((section) => node.info(section).catch(() => '')),
  );
  return parseInfo(sections.join('\r\n'));
}

/** Parses the text of INFO. */
export function parseInfo(text: string): StoreServer {
  const told = new Map([...text.matchAll(/^(\w+):(.*?)\r?$/gmu)].map(([, name, value]) => [name, value]));
  const [role, version] = [told.get('role'), told.get('valkey_version') ?? told.get('redis_version')];
  const [used, max] = [numberAt(told.get('used_memory')), numberAt(told.get('maxmemory'))];
  return {
    ...(role !== undefined && { role }),
    ...(version !== undefined && { version }),
    ...(used !== undefined && { usedMemoryBytes: used }),
    ...(max !== undefined && max > 0 && { maxMemoryBytes: max }),
  };
}

function numberAt(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
