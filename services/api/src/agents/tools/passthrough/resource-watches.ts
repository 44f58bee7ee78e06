import { whenAborted } from '@parley/shared/async/release-on-abort';
import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { WantedResources, WatchEnd } from '../../mcp/calls/watch.ts';
import type { McpFailure } from '../../mcp/results.ts';

/** A server with one credential. `watch` works as in its handle; `undefined` means that there is no account. */
export interface WatchedServer {
  /** The same for all watches that share a subscription. */
  readonly key: string;
  readonly watch: (wanted: WantedResources, signal: AbortSignal) => Promise<WatchEnd | undefined>;
}

/** A resource that is being watched. */
export interface HeldWatch {
  readonly type: 'held';
  release(): void;
}

/** Why a resource cannot be watched. */
export type NoWatch = Exclude<WatchEnd, { readonly type: 'interrupted' }>;

/** The watched resources of one pod. All watches with one credential share one subscription at the server. */
export interface ResourceWatches {
  /**
   * Watches a resource until it is released, even across interruptions. The listener is called when the resource has changed or
   * may have changed. Rejects with the reason of the signal.
   */
  hold(
    server: WatchedServer,
    uri: string,
    listener: () => void,
    signal: AbortSignal,
  ): Promise<HeldWatch | NoWatch>;
}

/** The pause before a broken connection is replaced, in ms. It doubles with each failure. */
const PAUSE_MS = { min: 250, max: 30_000 };
/** Changes of a resource are reported at most once in this time, in ms, because a server may report without end. */
const TELL_EVERY_MS = 1_000;
/**
 * A resource that the server never agreed to report is refused after this many connections, because its client waits for the
 * reply.
 */
const ATTEMPTS_MAX = 2;

interface Entry {
  readonly listeners: Set<() => void>;
  /** `new` until the server has answered; `lost` while the server has stopped reporting it. */
  state: 'new' | 'watched' | 'lost';
  readonly ready: Later<'watched' | NoWatch>;
  attempts: number;
  /** When its listeners were last called. */
  toldAt: number;
  telling: NodeJS.Timeout | undefined;
  /** How many watch it, including those that still wait for the server's reply. */
  holders: number;
}

export function createResourceWatches(): ResourceWatches {
  const servers = new Map<string, ServerWatch>();

  function watchOf(server: WatchedServer): ServerWatch {
    const known = servers.get(server.key);
    if (known !== undefined) return known;
    const made = createServerWatch(server, () => servers.delete(server.key));
    servers.set(server.key, made);
    return made;
  }

  return { hold: (server, uri, listener, signal) => watchOf(server).hold(uri, listener, signal) };
}

interface ServerWatch {
  hold(uri: string, listener: () => void, signal: AbortSignal): Promise<HeldWatch | NoWatch>;
}

/** The watched resources at one server with one credential. It ends itself, once, when none are left. */
function createServerWatch(server: WatchedServer, onEnd: () => void): ServerWatch {
  const entries = new Map<string, Entry>();
  const wake = new WakeSignal(undefined);
  let isRunning = false;

  function tell(entry: Entry): void {
    if (entry.telling !== undefined) return;
    const now = () => {
      entry.telling = undefined;
      entry.toldAt = performance.now();
      for (const listener of entry.listeners) listener();
    };
    const waitMs = entry.toldAt + TELL_EVERY_MS - performance.now();
    if (waitMs <= 0) now();
    else entry.telling = setTimeout(now, waitMs).unref();
  }

  function refuse(uri: string, why: NoWatch): void {
    const entry = entries.get(uri);
    if (entry === undefined) return;
    if (entry.state === 'new') {
      remove(uri, entry);
      entry.ready.resolve(why);
    } else lose(entry);
  }

  /** Tells the listeners. The server will be asked again later. */
  function lose(entry: Entry): void {
    if (entry.state === 'watched') tell(entry);
    entry.state = 'lost';
  }

  function remove(uri: string, entry: Entry): void {
    clearTimeout(entry.telling);
    entries.delete(uri);
    wake.notify();
  }

  const wanted: WantedResources = {
    uris() {
      wake.woken();
      return new Set(entries.keys());
    },
    async changed(signal) {
      const forget = whenAborted(signal, () => wake.notify());
      const isMissing = [...entries.values()].some(({ state }) => state === 'lost');
      await wake.sleep(isMissing ? performance.now() + PAUSE_MS.max : Number.POSITIVE_INFINITY);
      forget();
    },
    watched(uri) {
      const entry = entries.get(uri);
      if (entry === undefined) return;
      const wasLost = entry.state === 'lost';
      entry.state = 'watched';
      entry.ready.resolve('watched');
      if (wasLost) tell(entry);
    },
    refused: refuse,
    updated(uri) {
      const entry = entries.get(uri);
      if (entry !== undefined) tell(entry);
    },
  };

  async function run(): Promise<void> {
    let pause = PAUSE_MS.min;
    while (entries.size > 0) {
      const startedAt = performance.now();
      const attempted = new Set(entries.values());
      // The store of credentials may fail. A read that needs it reports the failure to the operator.
      const end = await server.watch(wanted, FOREVER).catch(() => UNAVAILABLE);
      interrupted(end ?? ABSENT, attempted);
      const wasStable = performance.now() - startedAt > PAUSE_MS.max;
      pause = wasStable ? PAUSE_MS.min : Math.min(2 * pause, PAUSE_MS.max);
      if (entries.size === 0) break;
      wake.woken();
      await wake.sleep(performance.now() + pause);
      wake.woken();
    }
    onEnd();
  }

  /** Marks resources that are no longer watched as lost, and refuses those that could not be watched. */
  function interrupted(end: WatchEnd, attempted: ReadonlySet<Entry>): void {
    const why = end.type === 'interrupted' ? UNAVAILABLE : end;
    for (const [uri, entry] of entries) {
      if (entry.state === 'watched') entry.state = 'lost';
      if (entry.state !== 'new' || !attempted.has(entry)) continue;
      entry.attempts += 1;
      if (why.type === 'absent' || entry.attempts >= ATTEMPTS_MAX) refuse(uri, why);
    }
  }

  function entryOf(uri: string): Entry {
    const known = entries.get(uri);
    if (known !== undefined) return known;
    const ready = later<'watched' | NoWatch>();
    const toldAt = Number.NEGATIVE_INFINITY;
    const entry: Entry = {
      listeners: new Set(),
      state: 'new',
      ready,
      attempts: 0,
      toldAt,
      telling: undefined,
      holders: 0,
    };
    entries.set(uri, entry);
    wake.notify();
    return entry;
  }

  function release(uri: string, entry: Entry, listener: () => void): void {
    entry.listeners.delete(listener);
    entry.holders -= 1;
    if (entry.holders === 0 && entries.get(uri) === entry) remove(uri, entry);
  }

  return {
    async hold(uri, listener, signal) {
      const entry = entryOf(uri);
      entry.holders += 1;
      entry.listeners.add(listener);
      if (!isRunning) {
        isRunning = true;
        // The loop never rejects, and ends with the last resource.
        void run();
      }
      const aborted = later<'aborted'>();
      const forget = whenAborted(signal, () => aborted.resolve('aborted'));
      const reply = await Promise.race([entry.ready.promise, aborted.promise]).finally(forget);
      if (reply === 'aborted') {
        release(uri, entry, listener);
        throw signal.reason;
      }
      if (reply !== 'watched') return reply;
      let isHeld = true;
      return {
        type: 'held',
        release() {
          if (isHeld) release(uri, entry, listener);
          isHeld = false;
        },
      };
    },
  };
}

const ABSENT = { type: 'absent' } as const;
const UNAVAILABLE: McpFailure = {
  type: 'unavailable',
  message: 'The server cannot be reached.',
  dispatched: 'no',
};
/** A signal that is never aborted. */
export const FOREVER: AbortSignal = new AbortController().signal;

interface Later<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

function later<T>(): Later<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve: (value) => resolve(value) };
}
