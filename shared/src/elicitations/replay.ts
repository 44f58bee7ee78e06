import type { FeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { FeedEntry } from '../ports/elicitations/feed.ts';
import type { EngineDeps } from '../records/deps.ts';

const PAGE = 500;

/**
 * The current content of a stream request's feed, in order from its first entry. Ends at the last entry, or when the feed is
 * lost.
 */
export async function* replay(deps: EngineDeps, stream: StreamRef): AsyncGenerator<FeedEntry, void> {
  let after: FeedPosition | undefined;
  for (;;) {
    const page = await deps.feed.read(stream, after, PAGE);
    if (page.type !== 'entries') return;
    yield* page.entries;
    after = page.entries.at(-1)?.position ?? after;
    if (page.entries.length < PAGE) return;
  }
}
