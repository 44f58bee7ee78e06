import type { Link } from './link.ts';

/** What a connection is for: `key` names server and credential, `fingerprint` all that goes into it, headers included. */
export interface LinkPlace {
  readonly key: string;
  readonly fingerprint: string;
}

export interface PoolOptions<P extends LinkPlace> {
  readonly connectionsMax: number;
  readonly idleMs: number;
  /** Makes a connection; `onClosed` is to be called when it ends. */
  readonly open: (place: P, hooks: { signal: AbortSignal; onClosed: () => void }) => Promise<Link>;
}

/** Connections, one per place, shared by all calls of that place and by no others. */
export interface Pool<P extends LinkPlace> {
  /** Runs `work` on the place's connection, which is opened if need be. Throws what opening it threw. */
  use<T>(place: P, work: (link: Link) => Promise<T>): Promise<T>;
  /** Gives the connection of a place up, if there is one; given `link`, only that one. It ends with its last call. */
  retire(place: P, link?: Link): void;
  /** Connections that are open or being opened. */
  readonly size: number;
  /** Ends all of them, calls under way included. */
  close(): Promise<void>;
}

interface Slot {
  readonly key: string;
  readonly fingerprint: string;
  readonly opening: AbortController;
  readonly ready: Promise<Link>;
  link?: Link;
  users: number;
  isRetired: boolean;
  idle?: NodeJS.Timeout;
}

/** A connection is never handed to a place with another fingerprint: a changed header means another connection. */
export function createPool<P extends LinkPlace>({ connectionsMax, idleMs, open }: PoolOptions<P>): Pool<P> {
  // In the order of their last use.
  const current = new Map<string, Slot>();
  const alive = new Set<Slot>();
  const endings = new Set<Promise<void>>();
  let isClosed = false;

  function slotOf(place: P): Slot {
    const known = current.get(place.key);
    const slot = known?.fingerprint === place.fingerprint ? known : openSlot(place, known);
    current.delete(place.key);
    current.set(place.key, slot);
    return slot;
  }

  function openSlot(place: P, previous: Slot | undefined): Slot {
    if (previous !== undefined) giveUp(previous);
    makeRoom();
    const opening = new AbortController();
    const onClosed = () => giveUp(slot);
    const ready = open(place, { signal: opening.signal, onClosed });
    const { key, fingerprint } = place;
    const slot: Slot = { key, fingerprint, opening, ready, users: 0, isRetired: false };
    alive.add(slot);
    ready.then(
      (link) => {
        slot.link = link;
      },
      () => {
        giveUp(slot);
        alive.delete(slot);
      },
    );
    return slot;
  }

  function makeRoom(): void {
    for (const slot of current.values()) {
      if (current.size < connectionsMax) return;
      if (slot.users === 0) giveUp(slot);
    }
  }

  /** New calls get another connection; this one ends with its last call. */
  function giveUp(slot: Slot): void {
    clearTimeout(slot.idle);
    slot.isRetired = true;
    if (current.get(slot.key) === slot) current.delete(slot.key);
    if (slot.users === 0) end(slot);
  }

  function end(slot: Slot): void {
    if (!alive.delete(slot)) return;
    slot.opening.abort();
    const ending = slot.ready
      .then((link) => link.close())
      .catch(() => undefined)
      .finally(() => endings.delete(ending));
    endings.add(ending);
  }

  function leave(slot: Slot): void {
    slot.users -= 1;
    if (slot.users > 0) return;
    if (slot.isRetired || isClosed) end(slot);
    else slot.idle = setTimeout(() => giveUp(slot), idleMs).unref();
  }

  return {
    use: async (place, work) => {
      if (isClosed) throw new Error('closed');
      const slot = slotOf(place);
      clearTimeout(slot.idle);
      slot.users += 1;
      try {
        return await work(await slot.ready);
      } finally {
        leave(slot);
      }
    },
    retire: ({ key, fingerprint }, link) => {
      const slot = current.get(key);
      if (slot?.fingerprint === fingerprint && (link === undefined || slot.link === link)) giveUp(slot);
    },
    get size() {
      return alive.size;
    },
    close: async () => {
      isClosed = true;
      for (const slot of [...alive]) {
        giveUp(slot);
        end(slot);
      }
      await Promise.all(endings);
    },
  };
}
