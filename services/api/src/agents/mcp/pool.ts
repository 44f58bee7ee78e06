import type { McpConnection } from './connection.ts';

/** What a connection is for. `key` identifies server and credential; `fingerprint` also covers transport and headers. */
export interface ConnectionTarget {
  readonly key: string;
  readonly fingerprint: string;
}

export interface PoolOptions<P extends ConnectionTarget> {
  readonly connectionsMax: number;
  readonly idleMs: number;
  /** Opens a connection and calls `onClosed` when it ends. */
  readonly open: (target: P, hooks: { signal: AbortSignal; onClosed: () => void }) => Promise<McpConnection>;
}

/** Connections, one per target. All calls of a target share its connection, and no other call uses it. */
export interface Pool<P extends ConnectionTarget> {
  /** Runs `work` on the target's connection, which is opened if necessary. Throws the error of a failed opening. */
  use<T>(target: P, work: (connection: McpConnection) => Promise<T>): Promise<T>;
  /**
   * Gives no further call the target's connection, which closes after its last call. With `connection`, only if it is
   * that one.
   */
  retire(target: P, connection?: McpConnection): void;
  /** Number of connections that are open or being opened. */
  readonly size: number;
  /** Closes all of them, including those with calls under way. */
  close(): Promise<void>;
}

interface Slot {
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
  const current = new Map<string, Slot>();
  const alive = new Set<Slot>();
  const endings = new Set<Promise<void>>();
  let isClosed = false;

  function slotFor(target: P): Slot {
    const known = current.get(target.key);
    const slot = known?.fingerprint === target.fingerprint ? known : openSlot(target, known);
    current.delete(target.key);
    current.set(target.key, slot);
    return slot;
  }

  function openSlot(target: P, previous: Slot | undefined): Slot {
    if (previous !== undefined) retireSlot(previous);
    evictIdle();
    const opening = new AbortController();
    const onClosed = () => retireSlot(slot);
    const ready = open(target, { signal: opening.signal, onClosed });
    const { key, fingerprint } = target;
    const slot: Slot = { key, fingerprint, opening, ready, users: 0, isRetired: false };
    alive.add(slot);
    ready.then(
      (connection) => {
        slot.connection = connection;
      },
      () => {
        retireSlot(slot);
        alive.delete(slot);
      },
    );
    return slot;
  }

  function evictIdle(): void {
    for (const slot of current.values()) {
      if (current.size < connectionsMax) return;
      if (slot.users === 0) retireSlot(slot);
    }
  }

  /** New calls get another connection. This one closes after its last call. */
  function retireSlot(slot: Slot): void {
    clearTimeout(slot.idle);
    slot.isRetired = true;
    if (current.get(slot.key) === slot) current.delete(slot.key);
    if (slot.users === 0) end(slot);
  }

  function end(slot: Slot): void {
    if (!alive.delete(slot)) return;
    slot.opening.abort();
    const ending = slot.ready
      .then((connection) => connection.close())
      .catch(() => undefined)
      .finally(() => endings.delete(ending));
    endings.add(ending);
  }

  function releaseSlot(slot: Slot): void {
    slot.users -= 1;
    if (slot.users > 0) return;
    if (slot.isRetired || isClosed) end(slot);
    else slot.idle = setTimeout(() => retireSlot(slot), idleMs).unref();
  }

  return {
    use: async (target, work) => {
      if (isClosed) throw new Error('closed');
      const slot = slotFor(target);
      clearTimeout(slot.idle);
      slot.users += 1;
      try {
        return await work(await slot.ready);
      } finally {
        releaseSlot(slot);
      }
    },
    retire: ({ key, fingerprint }, connection) => {
      const slot = current.get(key);
      if (slot?.fingerprint === fingerprint && (connection === undefined || slot.connection === connection))
        retireSlot(slot);
    },
    get size() {
      return alive.size;
    },
    close: async () => {
      isClosed = true;
      for (const slot of [...alive]) {
        retireSlot(slot);
        end(slot);
      }
      await Promise.all(endings);
    },
  };
}
