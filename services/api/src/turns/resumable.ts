import type { FeedPosition } from '@parley/shared/domain/events';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { Feed } from '@parley/shared/ports/elicitations/feed';
import type { Conversations } from '@parley/shared/ports/runs/conversations';

export interface ResumableDeps {
  readonly conversations: Pick<Conversations, 'read'>;
  readonly feed: Pick<Feed, 'read'>;
  /** True while the turn runs, on whichever pod. */
  readonly isRunning: (stream: StreamRef) => Promise<boolean>;
}

// A turn that ends in between is found by the second.
const LOOKS = 2;

/**
 * The turn that a reader of a conversation is to be told: the one that has more after the last event that they have
 * (`after`), also when it has ended; else the one that runs; else the last one, if its readers had left it because it
 * waited. Throws `unavailable`.
 */
export async function findResumable(
  deps: ResumableDeps,
  conversation: ConversationRef,
  after: FeedPosition | undefined,
): Promise<StreamRef | undefined> {
  const { tenant, userId } = conversation;
  for (let look = 0; look < LOOKS; look += 1) {
    const { running, last } = await deps.conversations.read(conversation);
    const ended = last && { tenant, userId, streamRequestId: last.streamRequestId };
    if (ended !== undefined && after !== undefined && (await hasMore(deps, ended, after))) return ended;
    if (running === undefined) {
      const isUntold = after === undefined && last?.wasDetached === true && ended !== undefined;
      return isUntold && (await hasMore(deps, ended, undefined)) ? ended : undefined;
    }
    const stream = { tenant, userId, streamRequestId: running };
    if (await deps.isRunning(stream)) return stream;
  }
  return undefined;
}

/** True when the turn's feed is still there, the position is of it, and it goes on after that. */
async function hasMore(
  { feed }: ResumableDeps,
  stream: StreamRef,
  after: FeedPosition | undefined,
): Promise<boolean> {
  const page = await feed.read(stream, after, 1);
  return page.type === 'entries' && page.entries.length > 0;
}
