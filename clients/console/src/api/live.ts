import { followEvents, sleep } from '@parley/core';
import { jsonIn } from '@parley/core/domain/parsed';
import type { AdminApi } from './client.ts';

const KINDS = ['elicitation', 'approval', 'turn', 'delivery'] as const;

/** What has changed in the tenant: ids and words, never content. */
export interface LiveChange {
  readonly kind: (typeof KINDS)[number];
  readonly id: string;
  /** Absent for the turn of a service key, and for the delivery of a record. */
  readonly userId?: string;
}

/** Called with what has changed since the last call; with `undefined` when anything may have changed. */
export type OnChanges = (changes: readonly LiveChange[] | undefined) => void;

export type LiveState = 'connecting' | 'live' | 'offline';

/** The one event stream of a page. */
export interface LiveChanges {
  readonly state: LiveState;
  /** Calls back at most once in `EVERY_MS`. Returns a function that ends the subscription. */
  subscribe(onChanges: OnChanges): () => void;
  stop(): void;
}

/** The pause between two calls of a subscriber, in ms: each call makes a page read again. */
export const EVERY_MS = 500;
/** More changes than this within one pause are told as `undefined`, so that a page reads everything once. */
const CHANGES_MAX = 200;
/** A stream that was refused is asked for again after this time, in ms. */
const AGAIN_MS = 5_000;
const PATH = '/v1/admin/events';

/**
 * Follows what changes, over as many connections as it takes. While no connection stands, each failed attempt makes the page read everything
 * again, because a pod of an earlier build has no such stream, and a pod that dies must not leave the page out of date.
 */
export function followChanges(
  { transport }: Pick<AdminApi, 'transport'>,
  onState: (state: LiveState) => void,
): LiveChanges {
  const subscribers = new Set<OnChanges>();
  const ending = new AbortController();
  const { signal } = ending;
  let state: LiveState = 'connecting';
  let pending: LiveChange[] | undefined = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function setState(next: LiveState): void {
    if (next === state || signal.aborted) return;
    state = next;
    onState(next);
  }

  function flush(): void {
    timer = undefined;
    const changes = pending;
    pending = [];
    for (const tell of subscribers) tell(changes);
  }

  function note(change: LiveChange | undefined): void {
    if (signal.aborted) return;
    if (change === undefined || (pending?.length ?? 0) >= CHANGES_MAX) pending = undefined;
    else pending?.push(change);
    timer ??= setTimeout(flush, EVERY_MS);
  }

  function noteBreak(): void {
    setState('offline');
    note(undefined);
  }

  async function follow(): Promise<void> {
    const resetsBackoff = () => {
      setState('live');
      return true;
    };
    const events = followEvents(
      transport,
      { path: PATH },
      { signal, resetsBackoff, onDisconnect: noteBreak },
    );
    // The first event of each connection is `reload`.
    for await (const { event, data } of events) note(event === 'reload' ? undefined : changeOf(data));
  }

  async function keepFollowing(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch(noteBreak);
      await sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  }

  void keepFollowing();
  return {
    get state() {
      return state;
    },
    subscribe(onChanges) {
      subscribers.add(onChanges);
      return () => subscribers.delete(onChanges);
    },
    stop() {
      ending.abort();
      clearTimeout(timer);
      subscribers.clear();
    },
  };
}

/** The change that an event tells of; undefined for an event that this page does not know, so that the page reads everything again. */
export function changeOf(data: string): LiveChange | undefined {
  const { kind, id, userId } = (jsonIn(data) ?? {}) as Partial<LiveChange>;
  return kind !== undefined && KINDS.includes(kind) && typeof id === 'string'
    ? { kind, id, ...(typeof userId === 'string' && { userId }) }
    : undefined;
}
