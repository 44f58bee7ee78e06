import type { FeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { Feed } from '@parley/shared/ports/elicitations/feed';
import type { Conversations } from '@parley/shared/ports/runs/conversations';

interface ResumableDeps {
  readonly conversations: Pick<Conversations, 'read'>;
  readonly feed: Pick<Feed, 'read'>;
  /** True while the turn runs on any pod. */
  readonly isRunning: (stream: StreamRef) => Promise<boolean>;
}

// If a turn ends between the two reads of an attempt, a second attempt is made.
const ATTEMPTS = 2;

/**
 * Finds the turn that a returning reader should follow. That is the turn with events after the reader's last event (`after`),
 * even if it has ended; else the running turn; else the last turn if it was detached, because its readers disconnected then.
 * Throws `unavailable`.
 */
export async function findResumable(
  deps: ResumableDeps,
  conversation: ConversationRef,
  after: FeedPosition | undefined,
): Promise<StreamRef | undefined> {
  const { tenant, userId } = conversation;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { running, last } = await deps.conversations.read(conversation);
    const ended = last && { tenant, userId, streamRequestId: last.streamRequestId };
    if (ended !== undefined && after !== undefined && (await isUnfinished(deps, ended, after))) return ended;
    if (running === undefined) {
      const isUnread = after === undefined && last?.wasDetached === true && ended !== undefined;
      return isUnread && (await firstOf(deps, ended)) !== undefined ? ended : undefined;
    }
    const stream = { tenant, userId, streamRequestId: running };
    if (await deps.isRunning(stream)) return stream;
  }
  return undefined;
}

/** True if the turn's feed has events after the reader's last event `after`. */
async function isUnfinished(deps: ResumableDeps, stream: StreamRef, after: FeedPosition): Promise<boolean> {
  const page = await deps.feed.read(stream, after, 1);
  if (page.type === 'entries') return page.entries.length > 0;
  // A reset means another turn's feed, unless Redis lost the reader's last event and other events took its place.
  return page.type === 'reset' && (await firstOf(deps, stream))?.epoch === after.epoch;
}

/** The position of the first event in the turn's feed; undefined if the feed no longer exists. */
async function firstOf({ feed }: ResumableDeps, stream: StreamRef): Promise<FeedPosition | undefined> {
  const page = await feed.read(stream, undefined, 1);
  return page.type === 'entries' ? page.entries[0]?.position : undefined;
}
