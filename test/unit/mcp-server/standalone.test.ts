import { describe, expect, it } from 'vitest';
import { standaloneFrames } from '../../../services/api/src/surfaces/mcp/legacy/standalone.ts';

const URI = 'city://a';

/** The stream of a session that learns nothing of its subscriptions from elsewhere. */
function stream(
  watch: () => Promise<{ type: 'held'; release: () => void } | undefined>,
  subscribed: string[],
) {
  const leaving = new AbortController();
  const frames = standaloneFrames({
    signal: leaving.signal,
    release: () => undefined,
    everyMs: 10,
    isOver: async () => false,
    subscribed: async () => subscribed,
    onSubscribed: () => () => undefined,
    mayHaveChanged: () => true,
    watch,
  });
  return { first: frames.next(), leave: () => leaving.abort() };
}

describe('the stream of a session', () => {
  it('watches a resource whose news was lost', async () => {
    const subscribed: string[] = [];
    const { first, leave } = stream(async () => ({ type: 'held', release: () => undefined }), subscribed);
    subscribed.push(URI);
    expect(await first).toMatchObject({ value: { text: expect.stringContaining(URI) } });
    leave();
  });

  it('tries a resource again that its server does not list for a while', async () => {
    let tries = 0;
    const watch = async () => {
      tries += 1;
      return tries < 3 ? undefined : ({ type: 'held', release: () => undefined } as const);
    };
    const { first, leave } = stream(watch, [URI]);
    expect(await first).toMatchObject({ value: { text: expect.stringContaining(URI) } });
    leave();
  });
});
