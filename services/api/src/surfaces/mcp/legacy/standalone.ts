import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { StreamPlace } from '../../../http/limits/stream-places.ts';
import type { Frame } from '../../../http/sse.ts';
import { jsonLine } from '../../../turns/plain.ts';
import type { Turns } from '../../../turns/turns.ts';
import { notification } from '../json-rpc.ts';

/** The stream of a session for messages that belong to no request. */
interface Standalone extends StreamPlace {
  readonly everyMs: number;
  /** Whether the session has ended, which any pod may have done. */
  readonly isOver: () => Promise<boolean>;
  /** The resources to which the session is subscribed. */
  readonly subscribed: () => Promise<readonly string[]>;
  /** Calls the listener when those changed. Returns what ends it. */
  readonly onSubscribed: (listener: () => void) => () => void;
  /** Whether a resource that is watched now may have changed since it was subscribed to. */
  readonly mayHaveChanged: (uri: string) => boolean;
  /** Watches a resource. */
  readonly watch: (uri: string, listener: () => void, signal: AbortSignal) => Watching;
}

type Watching = ReturnType<Turns['content']['watch']>;

/**
 * Tells which resources of the session's subscriptions changed, until the reader leaves or the session ends. A resource of
 * which nobody knows what happened since it was subscribed to is told once at the beginning.
 */
export async function* standaloneFrames(stream: Standalone): AsyncGenerator<Frame, 'end' | 'cut'> {
  const { signal, release, everyMs, isOver, subscribed, onSubscribed } = stream;
  const wake = new WakeSignal(signal);
  const watches = createStreamWatches(stream, () => wake.notify());
  let isStale = false;
  const unfollow = onSubscribed(() => {
    isStale = true;
    wake.notify();
  });
  try {
    for (;;) {
      // A store that does not answer ends nothing.
      if (await isOver().catch(() => false)) return 'end';
      // Each time, too: the news of a change may be lost, and what could not be watched is tried again. A change that comes
      // while they are read has them read again.
      isStale = false;
      await subscribed().then(watches.adjust, () => undefined);
      const until = performance.now() + everyMs;
      for (;;) {
        yield* watches.takeChanged().map((uri) => ({ text: updated(uri) }));
        await wake.sleep(until);
        if (wake.woken() === 'time' || isStale) break;
      }
    }
  } catch (error) {
    if (signal.aborted) return 'cut';
    throw error;
  } finally {
    wake.close();
    unfollow();
    watches.release();
    release();
  }
}

function updated(uri: string): string {
  return jsonLine(notification('notifications/resources/updated', { uri }));
}

/** What one stream watches. `onChange` is called when there is something to tell. */
function createStreamWatches(
  { signal, watch, mayHaveChanged }: Pick<Standalone, 'signal' | 'watch' | 'mayHaveChanged'>,
  onChange: () => void,
) {
  const watched = new Map<string, AbortController>();
  const changed = new Set<string>();

  const tell = (uri: string) => {
    changed.add(uri);
    onChange();
  };

  async function begin(uri: string): Promise<void> {
    const leaving = new AbortController();
    watched.set(uri, leaving);
    const again = () => watched.get(uri) === leaving && watched.delete(uri);
    try {
      const listener = () => leaving.signal.aborted || tell(uri);
      const held = await watch(uri, listener, AbortSignal.any([signal, leaving.signal]));
      // Its server does not list it now.
      if (held === undefined) return void again();
      leaving.signal.addEventListener('abort', held.release, { once: true });
      if (leaving.signal.aborted) held.release();
      else if (mayHaveChanged(uri)) tell(uri);
    } catch {
      // Its server is unavailable, or its person has no account there now.
      again();
    }
  }

  function end(uri: string, leaving: AbortController): void {
    watched.delete(uri);
    changed.delete(uri);
    leaving.abort();
  }

  return {
    /** Watches these and no others. Those that could not be watched are tried again. */
    adjust(uris: readonly string[]): void {
      for (const [uri, leaving] of watched) if (!uris.includes(uri)) end(uri, leaving);
      for (const uri of uris) if (!watched.has(uri)) void begin(uri);
    },
    takeChanged(): readonly string[] {
      const uris = [...changed];
      changed.clear();
      return uris;
    },
    release() {
      for (const [uri, leaving] of [...watched]) end(uri, leaving);
    },
  };
}
