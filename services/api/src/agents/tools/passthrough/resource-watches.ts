import { setTimeout as sleep } from 'node:timers/promises';
import type { WantedResources, WatchEnd } from '../../mcp/calls/watch.ts';

/** A server with one credential, as `watch` of its handle; `undefined` without an account. */
export interface WatchedServer {
  /** The same for all that share one subscription. */
  readonly key: string;
  readonly watch: (wanted: WantedResources, signal: AbortSignal) => Promise<WatchEnd | undefined>;
}

/** A resource that somebody watches. */
export interface HeldWatch {
  readonly type: 'held';
  release(): void;
}

/** Why a resource cannot be watched. */
export type NoWatch = Exclude<WatchEnd, { readonly type: 'interrupted' }>;

/** What is watched on one pod. All who watch with one credential share one subscription at its server. */
export interface ResourceWatches {
  /**
   * Watches a resource until it is released, over all interruptions. The listener is called where it changed, or may have.
   * Rejects with the reason of the signal.
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

interface Entry {
  readonly listeners: Set<() => void>;
  /** `new` until the server has answered; `lost` while the connection is being replaced. */
  state: 'new' | 'watched' | 'lost';
  readonly ready: Later<'watched' | NoWatch>;
  /** Those that wait for it included. */
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

/** What is watched at one server with one credential. Ends itself, once, when nothing is. */
function createServerWatch(server: WatchedServer, onEnd: () => void): ServerWatch {
  const entries = new Map<string, Entry>();
  let onChange: () => void = () => undefined;
  let isRunning = false;

  const tell = (entry: Entry) => {
    for (const listener of entry.listeners) listener();
  };

  function refuse(uri: string, why: NoWatch): void {
    const entry = entries.get(uri);
    if (entry === undefined) return;
    const wasWatched = entry.state !== 'new';
    remove(uri);
    entry.ready.resolve(why);
    if (wasWatched) tell(entry);
  }

  function remove(uri: string): void {
    entries.delete(uri);
    onChange();
  }

  /** Resolves when another resource is wanted, or one no more. */
  function nextChange(): Promise<void> {
    const change = later<void>();
    onChange = () => change.resolve();
    return change.promise;
  }

  const wanted: WantedResources = {
    uris: () => new Set(entries.keys()),
    async changed(signal) {
      const change = nextChange();
      const aborted = later<void>();
      signal.addEventListener('abort', aborted.resolve as () => void);
      if (!signal.aborted) await Promise.race([change, aborted.promise]);
      signal.removeEventListener('abort', aborted.resolve as () => void);
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
      interrupted((await server.watch(wanted, FOREVER)) ?? ABSENT);
      const wasStable = performance.now() - startedAt > PAUSE_MS.max;
      pause = wasStable ? PAUSE_MS.min : Math.min(2 * pause, PAUSE_MS.max);
      if (entries.size > 0) await Promise.race([sleep(pause, undefined, { ref: false }), nextChange()]);
    }
    onEnd();
  }

  /** Notes what is watched no more, and refuses what is not watched yet. */
  function interrupted(end: WatchEnd): void {
    for (const [uri, entry] of entries) {
      if (entry.state === 'watched') entry.state = 'lost';
      else if (entry.state === 'new' && end.type !== 'interrupted') refuse(uri, end);
    }
  }

  function entryOf(uri: string): Entry {
    const known = entries.get(uri);
    if (known !== undefined) return known;
    const ready = later<'watched' | NoWatch>();
    const entry: Entry = { listeners: new Set(), state: 'new', ready, holders: 0 };
    entries.set(uri, entry);
    onChange();
    return entry;
  }

  function release(uri: string, entry: Entry, listener: () => void): void {
    entry.listeners.delete(listener);
    entry.holders -= 1;
    if (entry.holders === 0 && entries.get(uri) === entry) remove(uri);
  }

  return {
    async hold(uri, listener, signal) {
      const entry = entryOf(uri);
      entry.holders += 1;
      entry.listeners.add(listener);
      if (!isRunning) {
        isRunning = true;
        // It never rejects, and ends with the last resource.
        void run();
      }
      const aborted = later<'aborted'>();
      const onAbort = () => aborted.resolve('aborted');
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      const reply = await Promise.race([entry.ready.promise, aborted.promise]);
      signal.removeEventListener('abort', onAbort);
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
const FOREVER = new AbortController().signal;

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
