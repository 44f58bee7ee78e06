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

function enter(receivers: Receivers, url: string, tenant = 'acme') {
  const entry = receivers.enter(tenant, url);
  if (entry.type === 'full') throw new Error('It has no place.');
  return entry;
}

/** How many places there are; they are taken then. */
function placesAt(receivers: Receivers, url: string, tenant = 'acme'): number {
  let places = 0;
  while (receivers.enter(tenant, url).type === 'place') places += 1;
  return places;
}

describe('a receiver of webhooks', () => {
  it('has two places at once until it has replied quickly once, whatever the status', () => {
    const receivers = createReceivers();
    const [first, second] = [
      enter(receivers, 'https://new.example/a'),
      enter(receivers, 'https://new.example/b'),
    ];
    expect(placesAt(receivers, 'https://new.example/c')).toBe(0);
    first.leave(AWAY);
    expect(placesAt(receivers, 'https://new.example/d')).toBe(1);
    vi.advanceTimersByTime(4_999);
    second.leave(BUSY);
    expect(placesAt(receivers, 'https://new.example/e')).toBe(23);
  });

  it.each(REPLIES)(
    'that took five seconds has two places for all its paths, whatever the result: %o',
    (reply) => {
      const receivers = createReceivers();
      enter(receivers, 'https://slow.example/').leave(BUSY);
      const { leave } = enter(receivers, 'https://slow.example/a');
      vi.advanceTimersByTime(5_000);
      leave(reply);
      expect(placesAt(receivers, 'https://slow.example/b?c')).toBe(2);
    },
  );

  it.each([
    ['once it replies quickly', BUSY, 24],
    ['not once it is quickly away', AWAY, 2],
  ])('has no limit of its own again: %s', (_when, reply, places) => {
    const receivers = createReceivers();
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    slow.leave(AWAY);
    enter(receivers, 'https://slow.example/').leave(reply);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(places);
  });

  it('is known for each tenant by itself', () => {
    const receivers = createReceivers();
    enter(receivers, 'https://shared.example/').leave(BUSY);
    const slow = enter(receivers, 'https://shared.example/', 'hog');
    vi.advanceTimersByTime(5_000);
    slow.leave(AWAY);
    expect(placesAt(receivers, 'https://shared.example/', 'hog')).toBe(2);
    expect(placesAt(receivers, 'https://shared.example/')).toBe(23);
  });

  it('defers deliveries without a place for a time that grows with their number, up to five minutes', () => {
    const receivers = createReceivers();
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    slow.leave(AWAY);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(2);
    const pauses = Array.from({ length: 4_000 }, () => {
      const entry = receivers.enter('acme', 'https://slow.example/');
      return entry.type === 'full' ? entry.deferInMs : 0;
    });
    expect([pauses[0], pauses[998], pauses.at(-1)]).toEqual([5_000, 100_000, 300_000]);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  });

  it('need not have a URL that can be read', () => {
    expect(placesAt(createReceivers(), 'no URL')).toBe(2);
  });

  it('has two places again when it was forgotten among many', () => {
    const receivers = createReceivers();
    enter(receivers, 'https://quick.example/').leave(BUSY);
    for (let host = 0; host < 5_000; host += 1) enter(receivers, `https://${host}.example/`).leave(BUSY);
    expect(placesAt(receivers, 'https://quick.example/')).toBe(2);
  });
});

describe('a tenant with webhooks', () => {
  /** Takes all places that a tenant gets at hosts which have replied quickly before. */
  const takeAll = (receivers: Receivers, tenant: string) => {
    enter(receivers, 'https://quick.example/', tenant).leave(BUSY);
    return placesAt(receivers, 'https://quick.example/', tenant);
  };

  it('has half of the places that other tenants do not use, so that six greedy ones are served', () => {
    const receivers = createReceivers();
    const taken = Array.from({ length: 6 }, (_, index) => takeAll(receivers, `tenant-${index}`));
    expect(taken).toEqual([24, 12, 6, 3, 2, 1]);
  });

  it('has its deliveries without a place deferred for half a second at first, and longer the more there are', () => {
    const receivers = createReceivers();
    takeAll(receivers, 'acme');
    const pauses = Array.from({ length: 10_000 }, () => {
      const entry = receivers.enter('acme', 'https://quick.example/');
      return entry.type === 'full' ? entry.deferInMs : 0;
    });
    expect(pauses[0]).toBe(500);
    expect(pauses.at(-1)).toBeGreaterThan(19_000);
  });
});
