import { isMintedStream, type StreamRef } from '@parley/core/domain/ids';
import type { Subscriptions } from '../../ports/delivery/subscriptions.ts';
import { createExpiringMap } from '../expiring-map.ts';
import { streamKey } from '../feed.ts';
import type { MemoryFence } from '../fence.ts';

/** The subscriptions of one process. Its other stores read them within their atomic steps. */
export interface MemorySubscriptions extends Subscriptions {
  kindsOf(stream: StreamRef): readonly string[];
  drop(stream: StreamRef): void;
}

export function createMemorySubscriptions(fence: Pick<MemoryFence, 'check'>): MemorySubscriptions {
  const byStream = createExpiringMap<{ readonly kinds: ReadonlySet<string>; readonly until: number }>();

  function kindsOf(stream: StreamRef): readonly string[] {
    if (!isMintedStream(stream.streamRequestId)) return [];
    return [...(byStream.get(streamKey(stream))?.kinds ?? [])];
  }

  return {
    kindsOf,
    drop: (stream) => byStream.delete(streamKey(stream)),
    async add(stream, kind, keepMs) {
      fence.check(stream);
      const found = byStream.get(streamKey(stream));
      const until = Math.max(found?.until ?? 0, Date.now() + keepMs);
      byStream.set(streamKey(stream), { kinds: new Set([...kindsOf(stream), kind]), until }, until);
    },
    async remove(stream, kind) {
      const found = byStream.get(streamKey(stream));
      if (found === undefined) return;
      const kinds = new Set([...found.kinds].filter((one) => one !== kind));
      byStream.set(streamKey(stream), { ...found, kinds }, found.until);
    },
    of: async (stream) => kindsOf(stream),
  };
}
