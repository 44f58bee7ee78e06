import { createReceivers } from '@parley/shared/delivery/receivers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const AWAY = { type: 'failed', fault: 'failed' } as const;
const BUSY = { type: 'replied', status: 503 } as const;
const REPLIES = [
  AWAY,
  BUSY,
  { type: 'failed', fault: 'timeout' },
  { type: 'failed', fault: 'unresolved' },
] as const;

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

type Receivers = ReturnType<typeof createReceivers>;

function enter(receivers: Receivers, url: string) {
  const entry = receivers.enter(url);
  if (entry.type === 'full') throw new Error('It has no place.');
  return entry;
}

/** How many places there are, a hundred at most; they are taken then. */
function placesAt(receivers: Receivers, url: string): number {
  let places = 0;
  while (places < 100 && receivers.enter(url).type === 'place') places += 1;
  return places;
}

describe('a receiver of webhooks', () => {
  it.each(REPLIES)(
    'that took five seconds has few places for all its paths, whatever the result: %o',
    (reply) => {
      const receivers = createReceivers();
      const { leave } = enter(receivers, 'https://slow.example/a');
      vi.advanceTimersByTime(5_000);
      leave(reply);
      expect(placesAt(receivers, 'https://slow.example/b?c')).toBe(2);
      expect(placesAt(receivers, 'https://other.example/')).toBe(100);
    },
  );

  it.each(REPLIES)('that is quick is not limited, whatever the result: %o', (reply) => {
    const receivers = createReceivers();
    const { leave } = enter(receivers, 'https://quick.example/');
    vi.advanceTimersByTime(4_999);
    leave(reply);
    expect(placesAt(receivers, 'https://quick.example/')).toBe(100);
  });

  it.each([
    ['once it answers quickly', BUSY, 0, 100],
    ['not once it is quickly away', AWAY, 0, 2],
    ['a minute later', AWAY, 60_000, 100],
  ])('has all its places again: %s', (_when, reply, laterMs, places) => {
    const receivers = createReceivers();
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    slow.leave(AWAY);
    enter(receivers, 'https://slow.example/').leave(reply);
    vi.advanceTimersByTime(laterMs);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(places);
  });

  it('defers deliveries without a place for a time that grows with their number, up to five minutes', () => {
    const receivers = createReceivers();
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    slow.leave(AWAY);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(2);
    const pauses = Array.from({ length: 4_000 }, () => {
      const entry = receivers.enter('https://slow.example/');
      return entry.type === 'full' ? entry.deferInMs : 0;
    });
    expect([pauses[0], pauses[998], pauses.at(-1)]).toEqual([5_000, 100_000, 300_000]);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  });

  it('need not have a URL that can be read', () => {
    expect(placesAt(createReceivers(), 'no URL')).toBe(100);
  });

  it('is removed from memory when it is quick and there are many', () => {
    const receivers = createReceivers();
    for (let host = 0; host < 5_000; host += 1) enter(receivers, `https://${host}.example/`).leave(BUSY);
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    slow.leave(AWAY);
    for (let host = 0; host < 5_000; host += 1) enter(receivers, `https://${host}.example/`).leave(BUSY);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(2);
  });
});
