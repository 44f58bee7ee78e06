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

/** What the store knows of itself, for operators. Each call takes a bounded number of commands and throws `unavailable`. */
export interface InstallationReader {
  queues(): Promise<readonly QueueCounts[]>;
  /** The server; of a Cluster its masters, at most `SERVERS_MAX`. None where there is no store beside the process. */
  servers(): Promise<readonly StoreServer[]>;
}

/** At most so many servers are asked. */
export const SERVERS_MAX = 32;
