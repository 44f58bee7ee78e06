/**
 * The latest view of each followed record, merged from all sources, so that a view never goes back. Where views come from is
 * not known here.
 */

import type { Connection } from './type.ts';

/** What a cache must know about a kind of record: questions or approvals. */
export interface RecordKind<Item> {
  idOf(item: Item): string;
  /** Whether the person can still act. */
  isOpen(item: Item): boolean;
  /** The newer of two views of one record. */
  newer(known: Item | undefined, next: Item): Item;
}

export interface Follower<Item> {
  readonly onChange: (item: Item) => void;
  readonly onConnection?: ((state: Connection) => void) | undefined;
  readonly onGone?: (() => void) | undefined;
}

interface InboxFollower<Item> {
  readonly onOpen: (open: readonly Item[]) => void;
  readonly onConnection?: ((state: Connection) => void) | undefined;
}

/** The latest view of every followed record, and its followers. It does not know where updates come from. */
export interface RecordCache<Item> {
  follow(id: string, follower: Follower<Item>): () => void;
  followInbox(follower: InboxFollower<Item>): () => void;
  hasInbox(): boolean;
  /** Ids of followed records that may still change. */
  openIds(): string[];
  /** Takes a view of one record, from any source and in any order. */
  update(item: Item): void;
  /** Takes the complete list of open records. Returns the ids of followed records that may still change but are not in it. */
  replaceOpen(open: readonly Item[]): string[];
  /** Call when the server does not know this record. */
  remove(id: string): void;
  /** Call when updates have ended: from now on, the list of open records and the state of the connection are unknown. */
  suspend(): void;
  /** Removes all followers. */
  close(): void;
  /** The latest view of an open record. */
  findOpen(id: string): Item | undefined;
  connection(): Connection;
  setConnection(state: Connection): void;
}

interface CacheEntry<Item> {
  latest: Item | undefined;
  isGone: boolean;
  readonly followers: Set<Follower<Item>>;
}

export function createCache<Item extends { readonly status: string; readonly createdAt?: string }>({
  idOf,
  isOpen,
  newer,
}: RecordKind<Item>): RecordCache<Item> {
  const entries = new Map<string, CacheEntry<Item>>();
  const inboxes = new Set<InboxFollower<Item>>();
  /** A settled record stays settled, even if an older list comes later. */
  const settled = new Set<string>();
  let inbox: Map<string, Item> | undefined;
  let state: Connection = 'connecting';

  function updateEntry(id: string, item: Item): void {
    const entry = entries.get(id);
    if (entry === undefined) return;
    const { latest } = entry;
    entry.latest = newer(latest, item);
    const isChanged = latest?.status !== entry.latest.status || entry.isGone;
    entry.isGone = false;
    // Only the status of a record ever changes.
    if (isChanged) for (const { onChange } of entry.followers) notify(onChange, entry.latest);
  }

  function notifyInboxes(to: Iterable<InboxFollower<Item>> = inboxes): void {
    if (inbox === undefined) return;
    const newestFirst = [...inbox.values()].sort((a, b) =>
      (b.createdAt ?? '').localeCompare(a.createdAt ?? ''),
    );
    for (const { onOpen } of to) notify(onOpen, newestFirst);
  }

  function openIds(): string[] {
    return [...entries].flatMap(([id, { latest, isGone }]) =>
      isGone || (latest !== undefined && !isOpen(latest)) ? [] : [id],
    );
  }

  return {
    follow(id, follower) {
      const entry = entries.get(id) ?? { latest: undefined, isGone: false, followers: new Set() };
      entries.set(id, entry);
      entry.followers.add(follower);
      if (entry.latest !== undefined && !entry.isGone) notify(follower.onChange, entry.latest);
      return () => {
        entry.followers.delete(follower);
        if (entry.followers.size === 0 && entries.get(id) === entry) entries.delete(id);
      };
    },
    followInbox(follower) {
      inboxes.add(follower);
      notifyInboxes([follower]);
      return () => inboxes.delete(follower);
    },
    hasInbox: () => inboxes.size > 0,
    openIds,
    update(item) {
      const id = idOf(item);
      updateEntry(id, item);
      if (!isOpen(item)) settled.add(id);
      if (inbox === undefined) return;
      const known = inbox.get(id);
      if (settled.has(id)) inbox.delete(id);
      else inbox.set(id, newer(known, item));
      if (known?.status !== inbox.get(id)?.status) notifyInboxes();
    },
    replaceOpen(open) {
      const before = inbox;
      const now = open.filter((one) => isOpen(one) && !settled.has(idOf(one)));
      inbox = new Map(now.map((one) => [idOf(one), newer(before?.get(idOf(one)), one)]));
      for (const one of now) updateEntry(idOf(one), one);
      if (before === undefined || !hasSameStatuses(before, inbox)) notifyInboxes();
      return openIds().filter((id) => !inbox?.has(id));
    },
    remove(id) {
      const entry = entries.get(id);
      if (inbox?.delete(id)) notifyInboxes();
      if (entry === undefined || entry.isGone) return;
      entry.isGone = true;
      for (const { onGone } of entry.followers) if (onGone !== undefined) notify(onGone, undefined);
    },
    suspend() {
      inbox = undefined;
      state = 'connecting';
    },
    close() {
      entries.clear();
      inboxes.clear();
    },
    findOpen: (id) => inbox?.get(id),
    connection: () => state,
    setConnection(next) {
      if (state === next) return;
      state = next;
      for (const entry of entries.values()) for (const one of entry.followers) notify(one.onConnection, next);
      for (const one of inboxes) notify(one.onConnection, next);
    },
  };
}

function hasSameStatuses<Item extends { readonly status: string }>(
  a: ReadonlyMap<string, Item>,
  b: ReadonlyMap<string, Item>,
): boolean {
  return a.size === b.size && [...a].every(([id, { status }]) => b.get(id)?.status === status);
}

/** Calls a listener. One that throws affects neither the other listeners nor the stream. */
function notify<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
