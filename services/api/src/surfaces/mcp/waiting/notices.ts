import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { WakeSignal } from '@parley/shared/async/wake-signal';
import type { notification } from '../json-rpc.ts';

/** A notification of one stream. */
type ListenNotice = ReturnType<typeof notification>;

/** What one stream has to tell. A thing that changes again before it is told is told once, as it is then. */
export interface ListenNotices {
  /** Something has changed. `tell` reads what to say of it; undefined where that is nothing. */
  changed(key: string, tell: () => Promise<ListenNotice | undefined>): void;
  /** What there is to tell, until the signal aborts; nothing each time that there was none for `quietMs`. */
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
