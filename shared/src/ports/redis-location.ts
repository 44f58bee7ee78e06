export interface Node {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is: one server, a Sentinel group, or a Cluster. */
export interface RedisLocation {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** single: `redis://` or `rediss://`. */
  readonly url?: string;
  /** sentinel: the sentinels; cluster: some nodes to start from. */
  readonly nodes?: readonly Node[];
  /** sentinel: the name of the master group. */
  readonly name?: string;
  /** sentinel: how to sign in at the sentinels themselves. */
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: boolean;
}
