import { whenAborted } from '@parley/shared/async/release-on-abort';
import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { StreamPlace } from '../../../http/limits/stream-places.ts';
import type { Frame } from '../../../http/sse.ts';
import { jsonLine } from '../../../turns/plain.ts';
import type { Turns } from '../../../turns/turns.ts';
import { notification } from '../json-rpc.ts';

/** The stream of a session for messages that do not belong to a request. */
interface Standalone extends StreamPlace {
  readonly everyMs: number;
  /** True if the session has ended, on any pod. */
  readonly isOver: () => Promise<boolean>;
  /** The resources to which the session is subscribed. */
  readonly subscribed: () => Promise<readonly string[]>;
  /** Calls the listener when the subscriptions change. The returned function ends this. */
  readonly onSubscribed: (listener: () => void) => () => void;
  /** True if a resource may have changed between its subscription and its watch. */
  readonly mayHaveChanged: (uri: string) => boolean;
  /** Watches a resource. */
  readonly watch: (uri: string, listener: () => void, signal: AbortSignal) => Watching;
}

type Watching = ReturnType<Turns['content']['watch']>;

/**
 * Reports which subscribed resources of the session have changed, until the reader disconnects or the session ends. If changes
 * since a subscription may have been missed, the resource is reported once at the beginning.
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
      // An unavailable store does not end the stream.
      if (await isOver().catch(() => false)) return 'end';
      // The subscriptions are read again each time, because the report of a change may be lost, and to retry failed watches. A
      // change during the read causes another read.
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

/** The watches of one stream. `onChange` is called when there is something to report. */
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
      // The server does not list the resource now.
      if (held === undefined) return void again();
      whenAborted(leaving.signal, held.release);
      if (!leaving.signal.aborted && mayHaveChanged(uri)) tell(uri);
    } catch {
      // The server is unavailable, or the person has no account there now.
      again();
    }
  }

  function end(uri: string, leaving: AbortController): void {
    watched.delete(uri);
    changed.delete(uri);
    leaving.abort();
  }

  return {
    /** Watches exactly these resources. Failed watches are retried. */
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
