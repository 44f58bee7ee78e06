import { type Elicitation, isOpen, newer } from '../elicitation.ts';
import type { Connection } from './type.ts';

export interface Follower {
  readonly onNews: (news: Elicitation) => void;
  readonly onConnection?: ((state: Connection) => void) | undefined;
  readonly onGone?: (() => void) | undefined;
}

export interface InboxFollower {
  readonly onOpen: (open: readonly Elicitation[]) => void;
  readonly onConnection?: ((state: Connection) => void) | undefined;
}

/** Who follows what, and what they were told last. Knows nothing of how news come in. */
export interface Book {
  follow(elicitationId: string, follower: Follower): () => void;
  followInbox(follower: InboxFollower): () => void;
  hasInbox(): boolean;
  /** Followed elicitations that may still change. */
  open(): string[];
  /** News of one elicitation, from anywhere, in any order. */
  take(news: Elicitation): void;
  /** All that waits for the person now. Returns what is followed, may still change, and is not among it. */
  takeAll(waiting: readonly Elicitation[]): string[];
  /** The server does not know it. */
  drop(elicitationId: string): void;
  /** Nobody keeps it up to date any more: what waits, and how news come in, is not known. */
  rest(): void;
  /** Nobody is told anything any more. */
  close(): void;
  /** What is known of an elicitation that waits. */
  waiting(elicitationId: string): Elicitation | undefined;
  connection(): Connection;
  setConnection(state: Connection): void;
}

interface Page {
  latest: Elicitation | undefined;
  isGone: boolean;
  readonly followers: Set<Follower>;
}

export function createBook(): Book {
  const pages = new Map<string, Page>();
  const inboxes = new Set<InboxFollower>();
  /** What has ended stays ended, whatever a late list says. */
  const ended = new Set<string>();
  let inbox: Map<string, Elicitation> | undefined;
  let state: Connection = 'connecting';

  function turn(elicitationId: string, news: Elicitation): void {
    const page = pages.get(elicitationId);
    if (page === undefined) return;
    const { latest } = page;
    page.latest = newer(latest, news);
    const isNews = latest?.status !== page.latest.status || page.isGone;
    page.isGone = false;
    // Only the status of an elicitation ever changes.
    if (isNews) for (const { onNews } of page.followers) tell(onNews, page.latest);
  }

  function tellInbox(to: Iterable<InboxFollower> = inboxes): void {
    if (inbox === undefined) return;
    const newestFirst = [...inbox.values()].sort((a, b) =>
      (b.createdAt ?? '').localeCompare(a.createdAt ?? ''),
    );
    for (const { onOpen } of to) tell(onOpen, newestFirst);
  }

  function open(): string[] {
    return [...pages].flatMap(([id, { latest, isGone }]) =>
      isGone || (latest !== undefined && !isOpen(latest)) ? [] : [id],
    );
  }

  return {
    follow(elicitationId, follower) {
      const page = pages.get(elicitationId) ?? { latest: undefined, isGone: false, followers: new Set() };
      pages.set(elicitationId, page);
      page.followers.add(follower);
      if (page.latest !== undefined && !page.isGone) tell(follower.onNews, page.latest);
      return () => {
        page.followers.delete(follower);
        if (page.followers.size === 0 && pages.get(elicitationId) === page) pages.delete(elicitationId);
      };
    },
    followInbox(follower) {
      inboxes.add(follower);
      tellInbox([follower]);
      return () => inboxes.delete(follower);
    },
    hasInbox: () => inboxes.size > 0,
    open,
    take(news) {
      const id = news.elicitationId;
      turn(id, news);
      if (!isOpen(news)) ended.add(id);
      if (inbox === undefined) return;
      const known = inbox.get(id);
      if (ended.has(id)) inbox.delete(id);
      else inbox.set(id, newer(known, news));
      if (known?.status !== inbox.get(id)?.status) tellInbox();
    },
    takeAll(waiting) {
      const before = inbox;
      const now = waiting.filter((one) => isOpen(one) && !ended.has(one.elicitationId));
      inbox = new Map(now.map((one) => [one.elicitationId, newer(before?.get(one.elicitationId), one)]));
      for (const one of now) turn(one.elicitationId, one);
      if (before === undefined || !sameViews(before, inbox)) tellInbox();
      return open().filter((id) => !inbox?.has(id));
    },
    drop(elicitationId) {
      const page = pages.get(elicitationId);
      if (inbox?.delete(elicitationId)) tellInbox();
      if (page === undefined || page.isGone) return;
      page.isGone = true;
      for (const { onGone } of page.followers) if (onGone !== undefined) tell(onGone, undefined);
    },
    rest() {
      inbox = undefined;
      state = 'connecting';
    },
    close() {
      pages.clear();
      inboxes.clear();
    },
    waiting: (elicitationId) => inbox?.get(elicitationId),
    connection: () => state,
    setConnection(next) {
      if (state === next) return;
      state = next;
      for (const page of pages.values()) for (const one of page.followers) tell(one.onConnection, next);
      for (const one of inboxes) tell(one.onConnection, next);
    },
  };
}

function sameViews(a: ReadonlyMap<string, Elicitation>, b: ReadonlyMap<string, Elicitation>): boolean {
  return a.size === b.size && [...a].every(([id, { status }]) => b.get(id)?.status === status);
}

/** A listener that fails must not keep the others from hearing, nor break the stream. */
function tell<T>(listener: ((news: T) => void) | undefined, news: T): void {
  try {
    listener?.(news);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
