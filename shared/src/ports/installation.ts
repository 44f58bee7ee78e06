/** The numbers of jobs in a queue. Queues with the same name are counted together. */
export interface QueueCounts {
  readonly name: string;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

/** A server of the store. A property that the server does not reveal is absent; managed servers may refuse to tell. */
export interface StoreServer {
  readonly role?: string;
  readonly version?: string;
  readonly usedMemoryBytes?: number;
  /** Absent when the server has no limit. */
  readonly maxMemoryBytes?: number;
}

/** A worker, according to its last note. Times are in ms on the store's clock. */
export interface WorkerStanding {
  readonly name: string;
  /** False when the worker has written no note for half a minute. */
  readonly isAlive: boolean;
  readonly startedAt: number;
  /** The queues from which it takes jobs. */
  readonly queues: readonly string[];
  /** The kinds of jobs and maintenance that were running. */
  readonly running: readonly string[];
  /** When the worker's last round of each kind of maintenance ended. */
  readonly rounds: readonly { readonly work: string; readonly at: number }[];
}

/**
 * What the store knows about the installation, for operators. Each call uses a limited number of commands and throws
 * `unavailable`.
 */
export interface InstallationReader {
  queues(): Promise<readonly QueueCounts[]>;
  /** The workers, by name; empty when the installation needs no worker. */
  workers(): Promise<readonly WorkerStanding[]>;
  /** The server, or at most `SERVERS_MAX` masters of a Cluster; empty when data is stored in the process itself. */
  servers(): Promise<readonly StoreServer[]>;
}

/** The maximum number of servers that one call asks. */
export const SERVERS_MAX = 32;
