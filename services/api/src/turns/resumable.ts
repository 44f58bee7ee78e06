import type { FeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { Feed } from '@parley/shared/ports/elicitations/feed';
import type { Conversations } from '@parley/shared/ports/runs/conversations';

interface ResumableDeps {
  readonly conversations: Pick<Conversations, 'read'>;
  readonly feed: Pick<Feed, 'read'>;
  /** True while the turn runs, on whichever pod. */
  readonly isRunning: (stream: StreamRef) => Promise<boolean>;
}

// The second attempt finds a turn that ended between the two reads of the first.
const ATTEMPTS = 2;

/**
 * Finds the turn that a returning reader should follow: the one with events after the reader's last event (`after`),
 * also when it has ended; else the running one; else the last one, if it was detached, since its readers disconnected
 * then. Throws `unavailable`.
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

/** True when the turn's feed has events that a reader lacks whose last event is `after`. */
async function isUnfinished(deps: ResumableDeps, stream: StreamRef, after: FeedPosition): Promise<boolean> {
  const page = await deps.feed.read(stream, after, 1);
  if (page.type === 'entries') return page.entries.length > 0;
  // The feed of another turn, unless Redis lost the reader's last event and others took its place.
  return page.type === 'reset' && (await firstOf(deps, stream))?.epoch === after.epoch;
}

/** The position of the first event in the turn's feed; undefined when the feed is gone. */
async function firstOf({ feed }: ResumableDeps, stream: StreamRef): Promise<FeedPosition | undefined> {
  const page = await feed.read(stream, undefined, 1);
  return page.type === 'entries' ? page.entries[0]?.position : undefined;
}
