import { type Elicitation, isOpen, newer } from '../elicitation.ts';
import type { Connection } from './type.ts';

export interface Follower {
  readonly onChange: (elicitation: Elicitation) => void;
  readonly onConnection?: ((state: Connection) => void) | undefined;
  readonly onGone?: (() => void) | undefined;
}

export interface InboxFollower {
  readonly onOpen: (open: readonly Elicitation[]) => void;
  readonly onConnection?: ((state: Connection) => void) | undefined;
}

/** The latest view of everything that is followed, and its followers. It does not know where updates come from. */
export interface ElicitationCache {
  follow(elicitationId: string, follower: Follower): () => void;
  followInbox(follower: InboxFollower): () => void;
  hasInbox(): boolean;
  /** Ids of followed elicitations that may still change. */
  openIds(): string[];
  /** Takes a view of one elicitation, from any source and in any order. */
  update(elicitation: Elicitation): void;
  /** Takes the complete list of open elicitations. Returns the ids that are followed, may still change and are not in it. */
  replaceOpen(open: readonly Elicitation[]): string[];
  /** The server does not know this elicitation. */
  remove(elicitationId: string): void;
  /** Updates have ended: the list of open elicitations and the connection's state are unknown from now on. */
  suspend(): void;
  /** Removes all followers. */
  close(): void;
  /** The latest view of an open elicitation. */
  findOpen(elicitationId: string): Elicitation | undefined;
  connection(): Connection;
  setConnection(state: Connection): void;
}

interface CacheEntry {
  latest: Elicitation | undefined;
  isGone: boolean;
  readonly followers: Set<Follower>;
}

export function createCache(): ElicitationCache {
  const entries = new Map<string, CacheEntry>();
  const inboxes = new Set<InboxFollower>();
  /** A settled elicitation stays settled, even when an older list arrives later. */
  const settled = new Set<string>();
  let inbox: Map<string, Elicitation> | undefined;
  let state: Connection = 'connecting';

  function updateEntry(elicitationId: string, elicitation: Elicitation): void {
    const entry = entries.get(elicitationId);
    if (entry === undefined) return;
    const { latest } = entry;
    entry.latest = newer(latest, elicitation);
    const isChanged = latest?.status !== entry.latest.status || entry.isGone;
    entry.isGone = false;
    // Nothing but the status of an elicitation ever changes.
    if (isChanged) for (const { onChange } of entry.followers) notify(onChange, entry.latest);
  }

  function notifyInboxes(to: Iterable<InboxFollower> = inboxes): void {
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
    follow(elicitationId, follower) {
      const entry = entries.get(elicitationId) ?? { latest: undefined, isGone: false, followers: new Set() };
      entries.set(elicitationId, entry);
      entry.followers.add(follower);
      if (entry.latest !== undefined && !entry.isGone) notify(follower.onChange, entry.latest);
      return () => {
        entry.followers.delete(follower);
        if (entry.followers.size === 0 && entries.get(elicitationId) === entry) entries.delete(elicitationId);
      };
    },
    followInbox(follower) {
      inboxes.add(follower);
      notifyInboxes([follower]);
      return () => inboxes.delete(follower);
    },
    hasInbox: () => inboxes.size > 0,
    openIds,
    update(elicitation) {
      const id = elicitation.elicitationId;
      updateEntry(id, elicitation);
      if (!isOpen(elicitation)) settled.add(id);
      if (inbox === undefined) return;
      const known = inbox.get(id);
      if (settled.has(id)) inbox.delete(id);
      else inbox.set(id, newer(known, elicitation));
      if (known?.status !== inbox.get(id)?.status) notifyInboxes();
    },
    replaceOpen(open) {
      const before = inbox;
      const now = open.filter((one) => isOpen(one) && !settled.has(one.elicitationId));
      inbox = new Map(now.map((one) => [one.elicitationId, newer(before?.get(one.elicitationId), one)]));
      for (const one of now) updateEntry(one.elicitationId, one);
      if (before === undefined || !hasSameStatuses(before, inbox)) notifyInboxes();
      return openIds().filter((id) => !inbox?.has(id));
    },
    remove(elicitationId) {
      const entry = entries.get(elicitationId);
      if (inbox?.delete(elicitationId)) notifyInboxes();
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
    findOpen: (elicitationId) => inbox?.get(elicitationId),
    connection: () => state,
    setConnection(next) {
      if (state === next) return;
      state = next;
      for (const entry of entries.values()) for (const one of entry.followers) notify(one.onConnection, next);
      for (const one of inboxes) notify(one.onConnection, next);
    },
  };
}

function hasSameStatuses(a: ReadonlyMap<string, Elicitation>, b: ReadonlyMap<string, Elicitation>): boolean {
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
