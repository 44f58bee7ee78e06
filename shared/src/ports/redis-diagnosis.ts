/** Why a Redis cannot be used, as a stable code. */
export type RedisFaultCode =
  | 'unknown_host'
  | 'refused'
  | 'no_answer'
  | 'no_tls'
  | 'tls_expected'
  | 'certificate'
  | 'password_missing'
  | 'password_wrong'
  | 'not_permitted'
  | 'not_a_sentinel'
  | 'unknown_master'
  | 'not_a_cluster'
  | 'replica'
  | 'too_old'
  | 'not_ready'
  | 'other';

export interface RedisFault {
  readonly code: RedisFaultCode;
  /** What is wrong and what to do. The sentences name the server but no secret. */
  readonly text: string;
}

/** The result of a diagnosis. Properties are absent when the server hides them or was not reached. */
export interface RedisDiagnosis {
  /** The diagnosed server, as host:port. */
  readonly address: string;
  /** Why the server cannot be used; absent when it can. */
  readonly fault?: RedisFault;
  /** The product and version, such as `Valkey 8.0.1`. */
  readonly server?: string;
  /** The eviction policy for a full memory, such as `noeviction`. */
  readonly evictionPolicy?: string;
  /** The server's clock, in ms since 1970. */
  readonly timeMs?: number;
  /** The server's memory, disk and counters. */
  readonly state?: RedisState;
}

/** The server's memory, disk and counters. Properties are absent when the server hides them. */
export interface RedisState {
  readonly usedMemoryBytes?: number;
  /** Also absent when there is no limit. */
  readonly maxMemoryBytes?: number;
  readonly usesAof?: boolean;
  /** True when the last write of a file to disk failed. */
  readonly writesFail: boolean;
  /** Keys that were evicted because memory was full, since the server started. */
  readonly evictedKeys?: number;
  /** Connections that were refused because there were too many, since the server started. */
  readonly refusedConnections?: number;
  /** The duration of one command. */
  readonly commandMs: number;
}
