import { type RedisServer, startRedis } from '../../../test/harness/redis/redis-server.ts';
import type { Fsync } from '../table.ts';

/** The servers of the peers: on loopback, each with a temporary folder, started when the first peer needs them. */
export interface PeerServers {
  /** URLs. */
  readonly redis: Readonly<Record<Fsync, string>>;
  /** Ends all that were started and removes their folders. */
  stop(): Promise<void>;
}

export async function startPeerServers(): Promise<PeerServers> {
  const [everysec, always] = await Promise.all([startRedisWith('everysec'), startRedisWith('always')]);
  return {
    redis: { everysec: everysec.url, always: always.url },
    async stop() {
      await Promise.all([everysec.stop(), always.stop()]);
    },
  };
}

function startRedisWith(fsync: Fsync): Promise<RedisServer> {
  return startRedis({ args: ['--save', '', '--appendonly', 'yes', '--appendfsync', fsync] });
}
