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
  /** What is wrong and what to do, in sentences that name the server and no secret. */
  readonly text: string;
}

/** What a look at a Redis found. Members are absent where the server hides them or was not reached. */
export interface RedisDiagnosis {
  /** The server that was looked at, as host:port. */
  readonly address: string;
  /** Why it cannot be used; absent when it can. */
  readonly fault?: RedisFault;
  /** What it is, such as `Valkey 8.0.1`. */
  readonly server?: string;
  /** What it removes when its memory is full, such as `noeviction`. */
  readonly evictionPolicy?: string;
  /** Its clock, in ms since 1970. */
  readonly timeMs?: number;
  /** What it tells of its memory, its disk and its past. */
  readonly state?: RedisState;
}

/** Members are absent where the server hides them. */
export interface RedisState {
  readonly usedMemoryBytes?: number;
  /** Absent, too, where it has no limit. */
  readonly maxMemoryBytes?: number;
  readonly usesAof?: boolean;
  /** The last write of a file to its disk failed. */
  readonly writesFail: boolean;
  /** Keys that it removed because its memory was full, since it started. */
  readonly evictedKeys?: number;
  /** Connections that it refused because it had too many, since it started. */
  readonly refusedConnections?: number;
  /** How long a command took. */
  readonly commandMs: number;
}
