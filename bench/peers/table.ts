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
  /** What it does not do of the work that is in the figure of Parley, and what it does in addition. */
  readonly differs: string;
  /** Starts what it needs and gives the address for its contender; rejects with the reason when it cannot be had. */
  start(servers: PeerServers): Promise<string>;
}

function contender(name: string): URL {
  return new URL(`./contenders/${name}.ts`, import.meta.url);
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
    differs:
      'only the worker that holds the job can answer it; no deadline (a local timer stops the wait, not the job); ' +
      'no check of the answer; events are trimmed at about 10,000 for the whole queue',
    start: async ({ redis }) => redis.everysec,
  },
  {
    name: 'Postgres UPDATE and NOTIFY',
    module: contender('postgres'),
    beside: 'always',
    fullCount: 1_500,
    needsPackages: true,
    durability:
      'fsync at every commit (default settings), 10 connections in each process; the row survives the asker',
    differs:
      'no check of the answer against a form; the deadline refuses late answers, but nothing wakes the asker at it; a ' +
      'notification is lost while nobody listens; no replayable events. One answer wins, as with Parley',
    start: ({ postgres }) => postgres(),
  },
  {
    name: 'LangGraph interrupt, Postgres checkpointer',
    module: contender('langgraph'),
    beside: 'always',
    fullCount: 300,
    continuesInSettler: true,
    needsPackages: true,
    durability: 'fsync at every commit (default settings); the thread survives the asker',
    differs:
      'no wake: the asker is never continued, so this is the time until the rest of the node runs in the process that ' +
      'answers; nothing refuses one of two answers at the same time; no check of the answer, no deadline, no replayable events',
    start: ({ postgres }) => postgres(),
  },
  {
    name: 'Restate awakeable',
    module: contender('restate'),
    beside: 'always',
    fullCount: 600,
    needsPackages: true,
    durability:
      'its log on one node with default settings (its write-ahead log with fsync); the wait survives the asker',
    differs:
      'no check of the answer; a second answer gets the same reply and is ignored; a deadline is code of the ' +
      'handler. The answer goes over HTTP, which Parley does not do here. Its wait continues by itself after a crash',
    start: ({ restate }) => restate(),
  },
  {
    name: 'DBOS send and recv',
    module: contender('dbos'),
    beside: 'always',
    fullCount: 300,
    needsPackages: true,
    durability: 'fsync at every commit of Postgres (default settings); the wait survives the asker',
    differs:
      'no check of the answer; no refusal of a second answer: it stays as another message; events only where the ' +
      'workflow writes them. Its wait has a deadline and continues by itself after a crash',
    start: ({ postgres }) => postgres(),
  },
  {
    name: 'NATS JetStream KV',
    module: contender('nats'),
    beside: 'everysec',
    fullCount: 3_000,
    needsPackages: true,
    durability:
      'file storage, one replica, default sync_interval (fsync every 2 minutes); the key survives the asker',
    differs:
      'no check of the answer; no deadline of a question; the answerer must know the revision, which Parley reads as a ' +
      'part of its figure. One answer wins, and a watch can start again, as with Parley',
    start: ({ nats }) => nats(),
  },
];
