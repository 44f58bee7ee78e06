import { type RedisServer, startRedis } from '../../../test/harness/redis/redis-server.ts';
import type { Fsync } from '../table.ts';
import { startNats } from './nats.ts';
import { startPostgres } from './postgres.ts';
import { startRestate } from './restate.ts';
import type { PeerServer } from './start-server.ts';

/** The servers of the peers: on loopback, each with a temporary folder, started when the first peer needs them. */
export interface PeerServers {
  /** URLs. */
  readonly redis: Readonly<Record<Fsync, string>>;
  postgres(): Promise<string>;
  nats(): Promise<string>;
  restate(): Promise<string>;
  /** Ends all that were started and removes their folders. */
  stop(): Promise<void>;
}

export async function startPeerServers(progress: (text: string) => void): Promise<PeerServers> {
  const [everysec, always] = await Promise.all([startRedisWith('everysec'), startRedisWith('always')]);
  const running: PeerServer[] = [everysec, always];
  const once = (start: typeof startNats) => {
    let url: Promise<string> | undefined;
    const begin = async () => {
      const server = await start(progress);
      running.push(server);
      return server.url;
    };
    return () => {
      url ??= begin();
      return url;
    };
  };
  return {
    redis: { everysec: everysec.url, always: always.url },
    postgres: once(startPostgres),
    nats: once(startNats),
    restate: once(startRestate),
    async stop() {
      await Promise.all(running.map((server) => server.stop()));
    },
  };
}

function startRedisWith(fsync: Fsync): Promise<RedisServer> {
  return startRedis({ args: ['--save', '', '--appendonly', 'yes', '--appendfsync', fsync] });
}
