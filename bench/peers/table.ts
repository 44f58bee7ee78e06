import type { PeerServers } from './servers/servers.ts';

/** When the Redis of an engine writes its log to the disk. */
export type Fsync = 'everysec' | 'always';

/** What somebody may use instead of Parley, and what must be known to read its figures. */
export interface Peer {
  readonly name: string;
  /** The file of its contender. */
  readonly module: URL;
  /** The engine with the durability nearest to this peer's. */
  readonly beside: Fsync;
  /** How many waits one round at full load settles. */
  readonly fullCount: number;
  /** The continuations run in the process that answers. */
  readonly continuesInSettler?: boolean;
  /** Packages of bench/peers/package.json. */
  readonly needsPackages: boolean;
  readonly durability: string;
  /** What Parley's figure includes and this peer's does not, and what the peer does instead. */
  readonly lacks: string;
  /** Starts what it needs and gives the address for its contender; rejects with the reason when it cannot be had. */
  start(servers: PeerServers): Promise<string>;
}

/** Every peer, in the order in which they run. */
export const PEERS: readonly Peer[] = [
  {
    name: 'BullMQ waitUntilFinished',
    module: new URL('./bullmq.ts', import.meta.url),
    beside: 'everysec',
    fullCount: 3_000,
    needsPackages: false,
    durability: 'the same Redis, AOF everysec; the job survives the asker, its wait does not',
    lacks:
      'only the worker that holds the job can answer it; no deadline (a local timer stops the wait, not the job); ' +
      'no check of the answer; events are trimmed at about 10,000 for the whole queue',
    start: async ({ redis }) => redis.everysec,
  },
];
