/** Reuses and closes the connections to MCP servers. Opening a connection is in `opener.ts`. */

import type { McpConnection } from './connection.ts';

/** The target of a connection. `key` identifies server and credential; `fingerprint` also covers transport and headers. */
export interface ConnectionTarget {
  readonly key: string;
  readonly fingerprint: string;
}

interface PoolOptions<P extends ConnectionTarget> {
  readonly connectionsMax: number;
  readonly idleMs: number;
  /** Opens a connection and calls `onClosed` when it ends. */
  readonly open: (target: P, hooks: { signal: AbortSignal; onClosed: () => void }) => Promise<McpConnection>;
}

/** Connections, one per target. All calls of a target share its connection, and no other call uses it. */
export interface Pool<P extends ConnectionTarget> {
  /** Runs `work` on the target's connection, which is opened if necessary. Throws the error if opening fails. */
  use<T>(target: P, work: (connection: McpConnection) => Promise<T>): Promise<T>;
  /**
   * Excludes the target's connection from further calls; it closes after its last call. If `connection` is given, does so only
   * for that connection.
   */
  retire(target: P, connection?: McpConnection): void;
  /** Number of connections that are open or being opened. */
  readonly size: number;
  /** Closes all connections, including those with calls under way. */
  close(): Promise<void>;
}

interface Pooled {
  readonly key: string;
  readonly fingerprint: string;
  readonly opening: AbortController;
  readonly ready: Promise<McpConnection>;
  connection?: McpConnection;
  users: number;
  isRetired: boolean;
  idle?: NodeJS.Timeout;
}

/** Makes a pool. A connection is used for one fingerprint only, so a changed header leads to another connection. */
export function createPool<P extends ConnectionTarget>({
  connectionsMax,
  idleMs,
  open,
}: PoolOptions<P>): Pool<P> {
  // Least recently used first.
  const current = new Map<string, Pooled>();
  const alive = new Set<Pooled>();
  const endings = new Set<Promise<void>>();
  let isClosed = false;

  function findPooled(target: P): Pooled {
    const known = current.get(target.key);
    const pooled = known?.fingerprint === target.fingerprint ? known : openPooled(target, known);
    current.delete(target.key);
    current.set(target.key, pooled);
    return pooled;
  }

  function openPooled(target: P, previous: Pooled | undefined): Pooled {
    if (previous !== undefined) retirePooled(previous);
    evictIdle();
    const opening = new AbortController();
    const onClosed = () => retirePooled(pooled);
    const ready = open(target, { signal: opening.signal, onClosed });
    const { key, fingerprint } = target;
    const pooled: Pooled = { key, fingerprint, opening, ready, users: 0, isRetired: false };
    alive.add(pooled);
    ready.then(
      (connection) => {
        pooled.connection = connection;
      },
      () => {
        retirePooled(pooled);
        alive.delete(pooled);
      },
    );
    return pooled;
  }

  function evictIdle(): void {
    for (const pooled of current.values()) {
      if (current.size < connectionsMax) return;
      if (pooled.users === 0) retirePooled(pooled);
    }
  }

  /** New calls get another connection. This one closes after its last call. */
  function retirePooled(pooled: Pooled): void {
    clearTimeout(pooled.idle);
    pooled.isRetired = true;
    if (current.get(pooled.key) === pooled) current.delete(pooled.key);
    if (pooled.users === 0) end(pooled);
  }

  function end(pooled: Pooled): void {
    if (!alive.delete(pooled)) return;
    pooled.opening.abort();
    const ending = pooled.ready
      .then((connection) => connection.close())
      .catch(() => undefined)
      .finally(() => endings.delete(ending));
    endings.add(ending);
  }

  function releasePooled(pooled: Pooled): void {
    pooled.users -= 1;
    if (pooled.users > 0) return;
    if (pooled.isRetired || isClosed) end(pooled);
    else pooled.idle = setTimeout(() => retirePooled(pooled), idleMs).unref();
  }

  return {
    use: async (target, work) => {
      if (isClosed) throw new Error('closed');
      const pooled = findPooled(target);
      clearTimeout(pooled.idle);
      pooled.users += 1;
      try {
        return await work(await pooled.ready);
      } finally {
        releasePooled(pooled);
      }
    },
    retire: ({ key, fingerprint }, connection) => {
      const pooled = current.get(key);
      if (
        pooled?.fingerprint === fingerprint &&
        (connection === undefined || pooled.connection === connection)
      )
        retirePooled(pooled);
    },
    get size() {
      return alive.size;
    },
    close: async () => {
      isClosed = true;
      for (const pooled of [...alive]) {
        retirePooled(pooled);
        end(pooled);
      }
      await Promise.all(endings);
    },
  };
}
