import { followEvents } from '@parley/core';
import type { AdminApi } from './client.ts';

/** What has changed in the tenant: ids and words, never content. */
export interface LiveChange {
  readonly kind: 'elicitation' | 'approval' | 'turn';
  readonly id: string;
}

/** Called with what has changed since the last call; with nothing when anything may have. */
export type OnChanges = (changes: readonly LiveChange[] | undefined) => void;

export type LiveState = 'connecting' | 'live' | 'offline';

/** The one event stream of a page. */
export interface LiveChanges {
  readonly state: LiveState;
  /** Calls back at most once in `EVERY_MS`. Returns what ends it. */
  subscribe(onChanges: OnChanges): () => void;
  stop(): void;
}

/** A page reads what has changed at most so often. */
export const EVERY_MS = 500;
/** So many changes at once count as "anything". */
const CHANGES_MAX = 200;
const PATH = '/v1/admin/events';

interface LiveOptions {
  readonly onState: (state: LiveState) => void;
  readonly onRefused: (error: unknown) => void;
}

/** Follows what changes, over as many connections as it takes: after each break, anything may have changed. */
export function followChanges({ transport }: Pick<AdminApi, 'transport'>, options: LiveOptions): LiveChanges {
  const subscribers = new Set<OnChanges>();
  const ending = new AbortController();
  let state: LiveState = 'connecting';
  let pending: LiveChange[] | undefined = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wasBroken = false;

  function setState(next: LiveState): void {
    if (next === state) return;
    state = next;
    options.onState(next);
  }

  function flush(): void {
    timer = undefined;
    const changes = pending;
    pending = [];
    for (const tell of subscribers) tell(changes);
  }

  function note(change: LiveChange | undefined): void {
    if (change === undefined || (pending?.length ?? 0) >= CHANGES_MAX) pending = undefined;
    else pending?.push(change);
    timer ??= setTimeout(flush, EVERY_MS);
  }

  function noteLife(): void {
    setState('live');
    if (wasBroken) note(undefined);
    wasBroken = false;
  }

  async function follow(): Promise<void> {
    const events = followEvents(
      transport,
      { path: PATH },
      {
        signal: ending.signal,
        resetsBackoff() {
          noteLife();
          return true;
        },
        onDisconnect() {
          wasBroken = true;
          setState('offline');
        },
      },
    );
    for await (const { event, data } of events) note(event === 'reload' ? undefined : changeOf(data));
  }

  follow().catch((error: unknown) => {
    setState('offline');
    options.onRefused(error);
  });
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

/** The change that an event tells of; nothing where it tells of something else, so that everything is read again. */
export function changeOf(data: string): LiveChange | undefined {
  try {
    const { kind, id } = JSON.parse(data) as Partial<LiveChange>;
    const isKnown = kind === 'elicitation' || kind === 'approval' || kind === 'turn';
    return isKnown && typeof id === 'string' ? { kind, id } : undefined;
  } catch {
    return undefined;
  }
}
