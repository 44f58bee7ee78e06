import { formatStreamPath } from '@parley/core/domain/ids';
import type { Erasure } from '../ports/erasure.ts';
import type { MemoryElicitations } from './elicitations/elicitations.ts';
import type { MemoryFeed } from './feed.ts';
import type { MemoryFence } from './fence.ts';
import type { MemoryOutbox } from './outbox/outbox.ts';
import type { MemorySubscriptions } from './outbox/subscriptions.ts';
import type { StoredTurns } from './runs/runs.ts';

interface MemoryErasureDeps {
  readonly elicitations: Pick<MemoryElicitations, 'storedFor' | 'erase'>;
  readonly feed: Pick<MemoryFeed, 'streamsOf' | 'drop'>;
  readonly turns: StoredTurns;
  readonly outbox: Pick<MemoryOutbox, 'removeAbout'>;
  readonly subscriptions: Pick<MemorySubscriptions, 'drop'>;
  readonly fence: MemoryFence;
}

/** Erases people in one process. All stored data is a single part. */
export function createMemoryErasure({
  elicitations,
  feed,
  turns,
  outbox,
  subscriptions,
  fence,
}: MemoryErasureDeps): Erasure {
  return {
    fence: async (owner, forMs) => fence.raise(owner, forMs),
    async *turns(owner) {
      yield turns.idsOf(owner);
    },
    async next(owner) {
      const turnIds = turns.idsOf(owner);
      const ofTurns = new Set(turnIds);
      return {
        ...elicitations.storedFor(owner),
        turnIds,
        streamRequestIds: feed.streamsOf(owner).filter((id) => !ofTurns.has(id)),
        conversationIds: turns.conversationIdsOf(owner),
      };
    },
    async remove({ tenant, userId }, part) {
      const owner = { tenant, userId };
      elicitations.erase(owner, part);
      for (const id of part.elicitationIds) outbox.removeAbout(id);
      for (const streamRequestId of [...part.streamRequestIds, ...part.turnIds]) {
        const stream = { ...owner, streamRequestId };
        outbox.removeAbout(formatStreamPath(stream));
        subscriptions.drop(stream);
        turns.remove(stream);
        feed.drop(stream);
      }
      for (const conversationId of part.conversationIds)
        turns.removeConversation({ ...owner, conversationId });
    },
    removeCounters: async (owner) => turns.removeCounters(owner),
  };
}
