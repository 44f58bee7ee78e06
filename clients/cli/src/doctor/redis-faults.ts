interface RedisRow {
  readonly fault: string;
  readonly seen: string;
  readonly remedy: string;
}

/** What a Redis that can be used may have wrong. */
export const REDIS_SETTINGS = {
  evicts: {
    fault: 'removes keys when its memory is full, open questions too',
    seen: 'INFO memory',
    remedy: 'Set its maxmemory-policy to noeviction.',
  },
  evicted: {
    fault: 'has removed keys because its memory was full',
    seen: 'INFO stats',
    remedy: 'Set its maxmemory-policy to noeviction, and give it more memory.',
  },
  memory_nearly_full: {
    fault: 'has used more than nine tenths of its memory',
    seen: 'INFO memory, or `/v1/admin/installation`',
    remedy: 'Raise maxmemory and the limit of the container, or shorten PARLEY_RETENTION_SECONDS.',
  },
  no_memory_limit: {
    fault: 'has no limit of memory, and ends with its machine',
    seen: 'INFO memory, or `/v1/admin/installation`',
    remedy: 'Set maxmemory to half of the limit of the container (docs/operations.md).',
  },
  aof_off: {
    fault: 'writes no append-only file: a crash loses answers that were acknowledged',
    seen: 'INFO persistence',
    remedy: 'Set appendonly yes and appendfsync everysec, unless its provider keeps writes in another way.',
  },
  write_failed: {
    fault: 'could not write its last file to its disk',
    seen: 'INFO persistence',
    remedy: 'Look at the space and the health of its disk, and at its log.',
  },
  connections_refused: {
    fault: 'has refused connections, because it had too many',
    seen: 'INFO stats',
    remedy: 'Raise maxclients, or find who opens so many.',
  },
  redis_slow: {
    fault: 'takes long for a command',
    seen: 'the time of `TIME`, from this machine',
    remedy: 'Put it near the pods, and look at SLOWLOG GET and LATENCY LATEST.',
  },
} satisfies Readonly<Record<string, RedisRow>>;

export type RedisSettingCode = keyof typeof REDIS_SETTINGS;
