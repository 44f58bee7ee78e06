/**
 * The one event stream of the console, which tells pages when to read again. What a page reads, and whether a change concerns
 * it, is decided by the page.
 */

import { followEvents, sleep } from '@parley/core';
import { jsonIn } from '@parley/core/domain/parsed';
import type { AdminApi } from './client.ts';

const KINDS = ['elicitation', 'approval', 'turn', 'delivery'] as const;

/** A change in the tenant: ids and codes, never content. */
export interface LiveChange {
  readonly kind: (typeof KINDS)[number];
  readonly id: string;
  /** Absent for a service key's turn and for a record's delivery. */
  readonly userId?: string;
}

/** Called with the changes since the last call; with `undefined` when anything may have changed. */
export type OnChanges = (changes: readonly LiveChange[] | undefined) => void;

export type LiveState = 'connecting' | 'live' | 'offline';

/** The one event stream of a page. */
export interface LiveChanges {
  readonly state: LiveState;
  /** Calls back at most once per `EVERY_MS`. Returns the function that ends the subscription. */
  subscribe(onChanges: OnChanges): () => void;
  stop(): void;
}

/** The minimum pause between two calls of a subscriber, in ms, because each call makes a page read again. */
export const EVERY_MS = 500;
/** More changes than this within one pause are reported as `undefined`, so that a page reads everything once. */
const CHANGES_MAX = 200;
/** After this time, a refused stream is opened again, in ms. */
const AGAIN_MS = 5_000;
const PATH = '/v1/admin/events';

/**
 * Follows changes and reconnects as often as necessary. Without a connection, each failed attempt makes the pages read
 * everything again: a pod of an earlier build has no such stream, and a page must not stay outdated after a pod died.
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

/** Parses a change. Undefined for an unknown event, so that the page reads everything again. */
export function changeOf(data: string): LiveChange | undefined {
  const { kind, id, userId } = (jsonIn(data) ?? {}) as Partial<LiveChange>;
  return kind !== undefined && KINDS.includes(kind) && typeof id === 'string'
    ? { kind, id, ...(typeof userId === 'string' && { userId }) }
    : undefined;
}
