import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { notification } from '../json-rpc.ts';

/** A notification of one stream. */
type ListenNotice = ReturnType<typeof notification>;

/**
 * The pending notifications of one stream. If something changes again before it is reported, it is reported once, in its latest
 * state.
 */
export interface ListenNotices {
  /** Reports a change. `tell` reads the notification; undefined if there is nothing to say. */
  changed(key: string, tell: () => Promise<ListenNotice | undefined>): void;
  /** Yields the notifications until the signal aborts, and undefined after each `quietMs` without one. */
  told(quietMs: number): AsyncGenerator<ListenNotice | undefined, void>;
}

export function createNotices(signal: AbortSignal): ListenNotices {
  const due = new Map<string, () => Promise<ListenNotice | undefined>>();
  const wake = new WakeSignal(signal);

  async function* told(quietMs: number): AsyncGenerator<ListenNotice | undefined, void> {
    for (;;) {
      for (const [key, tell] of due) {
        due.delete(key);
        const notice = await retryWhileUnavailable(tell, signal);
        if (notice !== undefined) yield notice;
      }
      await wake.sleep(performance.now() + quietMs);
      if (wake.woken() === 'time') yield undefined;
    }
  }

  return {
    changed(key, tell) {
      due.set(key, tell);
      wake.notify();
    },
    async *told(quietMs) {
      try {
        yield* told(quietMs);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        wake.close();
      }
    },
  };
}
