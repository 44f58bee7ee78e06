export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** The address of Redis: one server, a Sentinel group, or a Cluster. */
export interface RedisLocation {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  /** For `single`: a URL of `redis:` or `rediss:`. */
  readonly url?: string;
  /** For `sentinel`: the sentinels. For `cluster`: some nodes, from which the others are discovered. */
  readonly nodes?: readonly RedisNode[];
  /** For `sentinel`: the name of the master group. */
  readonly name?: string;
  /** For `sentinel`: the credentials of the sentinels themselves. */
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: boolean;
}
