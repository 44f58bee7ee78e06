/** How many jobs a queue has. Queues of one name are counted together. */
export interface QueueCounts {
  readonly name: string;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

/** A server of the store. What it does not tell is absent: managed servers may refuse to. */
export interface StoreServer {
  readonly role?: string;
  readonly version?: string;
  readonly usedMemoryBytes?: number;
  /** Absent where the server has no limit. */
  readonly maxMemoryBytes?: number;
}

/** A worker, by its last note. Times are ms on the store's clock. */
export interface WorkerStanding {
  readonly name: string;
  /** False once it has written nothing for half a minute. */
  readonly isAlive: boolean;
  readonly startedAt: number;
  /** The queues from which it takes jobs. */
  readonly queues: readonly string[];
  /** Kinds of jobs and of maintenance that were under way. */
  readonly running: readonly string[];
  /** When its last round of each kind of maintenance ended. */
  readonly rounds: readonly { readonly work: string; readonly at: number }[];
}

/** What the store knows of itself, for operators. Each call takes a bounded number of commands and throws `unavailable`. */
export interface InstallationReader {
  queues(): Promise<readonly QueueCounts[]>;
  /** The workers, by name. None where the processes need no worker. */
  workers(): Promise<readonly WorkerStanding[]>;
  /** The server; of a Cluster its masters, at most `SERVERS_MAX`. None where there is no store beside the process. */
  servers(): Promise<readonly StoreServer[]>;
}

/** At most so many servers are asked. */
export const SERVERS_MAX = 32;
