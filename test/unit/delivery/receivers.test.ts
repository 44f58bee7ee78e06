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
type Reply = { readonly type: 'replied' | 'failed' };

function enter(receivers: Receivers, url: string, tenant = 'acme') {
  const entry = receivers.enter(tenant, url);
  if (entry.type === 'full') throw new Error('It has no place.');
  let end: (reply: Reply) => void = () => undefined;
  const called = entry.call(
    () => new Promise<Reply>((resolve) => (end = resolve)),
    ({ type }) => type === 'replied',
  );
  return {
    async leave(reply: Reply) {
      end(reply);
      await called;
      entry.leave();
    },
  };
}

/** How many places there are; they are taken then. */
function placesAt(receivers: Receivers, url: string, tenant = 'acme'): number {
  let places = 0;
  while (receivers.enter(tenant, url).type === 'place') places += 1;
  return places;
}

describe('a receiver of webhooks', () => {
  it('has two places at once until it has replied quickly once, whatever the status', async () => {
    const receivers = createReceivers();
    const [first, second] = [
      enter(receivers, 'https://new.example/a'),
      enter(receivers, 'https://new.example/b'),
    ];
    expect(placesAt(receivers, 'https://new.example/c')).toBe(0);
    await first.leave(AWAY);
    expect(placesAt(receivers, 'https://new.example/d')).toBe(1);
    vi.advanceTimersByTime(4_999);
    await second.leave(BUSY);
    expect(placesAt(receivers, 'https://new.example/e')).toBe(23);
  });

  it.each(REPLIES)(
    'that took five seconds has two places for all its paths, whatever the result: %o',
    async (reply) => {
      const receivers = createReceivers();
      await enter(receivers, 'https://slow.example/').leave(BUSY);
      const { leave } = enter(receivers, 'https://slow.example/a');
      vi.advanceTimersByTime(5_000);
      await leave(reply);
      expect(placesAt(receivers, 'https://slow.example/b?c')).toBe(2);
    },
  );

  it.each([
    ['once it replies quickly', BUSY, 24],
    ['not once it is quickly away', AWAY, 2],
  ])('has no limit of its own again: %s', async (_when, reply, places) => {
    const receivers = createReceivers();
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    await slow.leave(AWAY);
    await enter(receivers, 'https://slow.example/').leave(reply);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(places);
  });

  it('is known for each tenant by itself', async () => {
    const receivers = createReceivers();
    await enter(receivers, 'https://shared.example/').leave(BUSY);
    const slow = enter(receivers, 'https://shared.example/', 'hog');
    vi.advanceTimersByTime(5_000);
    await slow.leave(AWAY);
    expect(placesAt(receivers, 'https://shared.example/', 'hog')).toBe(2);
    expect(placesAt(receivers, 'https://shared.example/')).toBe(23);
  });

  it('defers deliveries without a place for a time that grows with their number, up to five minutes', async () => {
    const receivers = createReceivers();
    const slow = enter(receivers, 'https://slow.example/');
    vi.advanceTimersByTime(5_000);
    await slow.leave(AWAY);
    expect(placesAt(receivers, 'https://slow.example/')).toBe(2);
    const pauses = Array.from({ length: 4_000 }, () => {
      const entry = receivers.enter('acme', 'https://slow.example/');
      return entry.type === 'full' ? entry.deferInMs : 0;
    });
    expect([pauses[0], pauses[998], pauses.at(-1)]).toEqual([5_000, 100_000, 300_000]);
    expect(pauses).toEqual([...pauses].sort((a, b) => a - b));
  });

  it('need not have a URL that can be read', async () => {
    expect(placesAt(createReceivers(), 'no URL')).toBe(2);
  });

  it('has two places again when it was forgotten among many', async () => {
    const receivers = createReceivers();
    await enter(receivers, 'https://quick.example/').leave(BUSY);
    for (let host = 0; host < 5_000; host += 1)
      await enter(receivers, `https://${host}.example/`).leave(BUSY);
    expect(placesAt(receivers, 'https://quick.example/')).toBe(2);
  });
});

describe('a tenant with webhooks', () => {
  /** Takes all places that a tenant gets at hosts which have replied quickly before. */
  const takeAll = async (receivers: Receivers, tenant: string) => {
    await enter(receivers, 'https://quick.example/', tenant).leave(BUSY);
    return placesAt(receivers, 'https://quick.example/', tenant);
  };

  it('has half of the places that other tenants do not use, so that six greedy ones are served', async () => {
    const receivers = createReceivers();
    const taken: number[] = [];
    for (let tenant = 0; tenant < 6; tenant += 1) taken.push(await takeAll(receivers, `tenant-${tenant}`));
    expect(taken).toEqual([24, 12, 6, 3, 2, 1]);
  });

  it('has its deliveries without a place deferred for half a second at first, and longer the more there are', async () => {
    const receivers = createReceivers();
    await takeAll(receivers, 'acme');
    const pauses = Array.from({ length: 10_000 }, () => {
      const entry = receivers.enter('acme', 'https://quick.example/');
      return entry.type === 'full' ? entry.deferInMs : 0;
    });
    expect(pauses[0]).toBe(500);
    expect(pauses.at(-1)).toBeGreaterThan(19_000);
  });
});
