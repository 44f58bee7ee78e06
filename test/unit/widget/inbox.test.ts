import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Elicitation } from '../../../clients/widget/src/elicitation.ts';
import { countWaiting, drop, end, type InboxItem, merge } from '../../../clients/widget/src/inbox/items.ts';
import { createInboxList, type InboxNews } from '../../../clients/widget/src/inbox/list.ts';
import { stayTrueMs } from '../../../clients/widget/src/inbox/times.ts';
import { nameOf } from '../../../clients/widget/src/inbox/view.ts';
import type { Connection, ElicitationServer } from '../../../clients/widget/src/server/type.ts';

const MINUTE = 60_000;

function question(id: number, more: Partial<Elicitation> = {}): Elicitation {
  return {
    elicitationId: `el_${id}`,
    mode: 'form',
    message: `Question ${id}`,
    status: 'pending',
    createdAt: new Date(id * MINUTE).toISOString(),
    ...more,
  };
}

const idsOf = (items: readonly InboxItem[]) => items.map(({ elicitation }) => elicitation.elicitationId);

describe('the lines of an inbox', () => {
  it('are the newest first, whatever order the server has them in', () => {
    expect(
      idsOf(
        merge(
          [],
          [2, 3, 1].map((id) => question(id)),
          0,
        ).items,
      ),
    ).toEqual(['el_3', 'el_2', 'el_1']);
  });

  it('keep what waits no longer, with the time it left, and say what came and what went', () => {
    const before = merge([], [question(1), question(2)], 0).items;
    const { items, arrived, left } = merge(before, [question(1), question(3)], 50);
    expect(items.map(({ elicitation, leftAt }) => [elicitation.elicitationId, leftAt])).toEqual([
      ['el_3', undefined],
      ['el_2', 50],
      ['el_1', undefined],
    ]);
    expect(arrived.map(({ elicitationId }) => elicitationId)).toEqual(['el_3']);
    expect(left).toEqual(['el_2']);
    expect(merge(items, [question(1), question(3)], 99)).toMatchObject({ arrived: [], left: [] });
    expect(countWaiting(items)).toBe(2);
  });

  it('never take back an end that is known, but revive a line that was only missing', () => {
    const ended = end(merge([], [question(1)], 0).items, { elicitationId: 'el_1', status: 'accepted' }, 7);
    expect(merge(ended, [question(1)], 9).items).toEqual(ended);
    const missing = merge(merge([], [question(1)], 0).items, [], 7).items;
    expect(merge(missing, [question(1)], 9).items).toEqual([{ elicitation: question(1) }]);
  });

  it('leave when their time is up, unless somebody is at them', () => {
    const items = merge(merge([], [question(1), question(2)], 0).items, [], 100).items;
    expect(drop(items, 99, () => false)).toBe(items);
    expect(idsOf(drop(items, 100, (id) => id === 'el_2'))).toEqual(['el_2']);
    expect(drop(items, 100, () => false)).toEqual([]);
  });

  it('agree with a plain set, whatever lists and ends come in', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
    const step = fc.oneof(
      ids.map((open) => ({ open })),
      fc.integer({ min: 1, max: 6 }).map((ended) => ({ ended })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let items: readonly InboxItem[] = [];
        let waiting = new Set<string>();
        const over = new Set<string>();
        steps.forEach((each, at) => {
          if ('open' in each) {
            items = merge(
              items,
              each.open.map((id) => question(id)),
              at,
            ).items;
            waiting = new Set(each.open.map((id) => `el_${id}`).filter((id) => !over.has(id)));
          } else {
            const elicitationId = `el_${each.ended}`;
            if (idsOf(items).includes(elicitationId)) over.add(elicitationId);
            items = end(items, { elicitationId, status: 'declined' }, at);
            waiting.delete(elicitationId);
          }
          expect(new Set(idsOf(items.filter(({ leftAt }) => leftAt === undefined)))).toEqual(waiting);
          expect(idsOf(items)).toEqual([...new Set(idsOf(items))].sort().reverse());
        });
      }),
    );
  });
});

describe('a line', () => {
  it('has the title of its question for a name, else what its message begins with, on one line', () => {
    expect(nameOf(question(1, { title: ' Paint\nthe door ' }))).toBe('Paint the door');
    expect(nameOf(question(1, { title: ' ', message: 'Which\n\tcolour?' }))).toBe('Which colour?');
    expect(nameOf(question(1, { title: 'a\u202eb' }))).toBe('a[U+202E]b');
  });

  it('is cut where it gets long, and never within a character', () => {
    const name = nameOf(question(1, { message: '🎨'.repeat(5_000) }));
    expect([...name]).toHaveLength(140);
    expect(name.isWellFormed()).toBe(true);
    expect(nameOf(question(1, { message: 'x'.repeat(140) }))).toBe('x'.repeat(140));
  });
});

describe('the times of an inbox', () => {
  it('are looked at by the second where one is counted down, else four times a minute', () => {
    expect(stayTrueMs(0, [])).toBe(15_000);
    expect(stayTrueMs(0, [60 * MINUTE, Number.NaN])).toBe(15_000);
    expect(stayTrueMs(0, [60 * MINUTE, 10 * MINUTE])).toBe(1_000);
    expect(stayTrueMs(0, [-MINUTE])).toBe(15_000);
    expect(stayTrueMs(0, [10 * MINUTE + 4_000])).toBe(4_000);
  });
});

describe('the list', () => {
  /** A server of which the test is the far end. */
  function setUp({ held = false } = {}) {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    let tell: (open: readonly Elicitation[]) => void = () => undefined;
    let connect: (state: Connection) => void = () => undefined;
    const ended = new Map<string, Elicitation>();
    let followers = 0;
    const server: Pick<ElicitationServer, 'now' | 'read' | 'followInbox'> = {
      now: () => Date.now(),
      async read(id) {
        const found = ended.get(id);
        if (found === undefined) throw new Error('away');
        return found;
      },
      followInbox(listener, onConnection) {
        followers += 1;
        tell = listener;
        connect = onConnection ?? connect;
        return () => {
          followers -= 1;
        };
      },
    };
    const news: InboxNews[] = [];
    const list = createInboxList({ server, isHeld: () => held, onNews: (item) => news.push(item) });
    list.start();
    return {
      list,
      news,
      ended,
      followers: () => followers,
      tell: (...open: Elicitation[]) => tell(open),
      connect: (state: Connection) => connect(state),
    };
  }

  it('tells arrivals, but not what was there already', () => {
    const { list, news, tell } = setUp();
    expect(list.waiting).toBeUndefined();
    tell(question(1));
    expect(news).toEqual([{}]);
    tell(question(1), question(2));
    expect(news.at(-1)).toEqual({ arrived: [question(2)] });
    expect(list.waiting).toBe(2);
  });

  it('finds out how a question ended, says so, and lets its line go when it was there to be read', async () => {
    const { list, news, ended, tell } = setUp();
    tell(question(1));
    ended.set('el_1', question(1, { status: 'withdrawn', reason: 'superseded' }));
    tell();
    await vi.advanceTimersByTimeAsync(0);
    expect(news.at(-1)?.ended).toMatchObject({ status: 'withdrawn', reason: 'superseded' });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(list.items).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(list.items).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets the line go even if nobody can tell how it ended, and keeps it while somebody is at it', async () => {
    const free = setUp();
    free.tell(question(1));
    free.tell();
    await vi.advanceTimersByTimeAsync(0);
    expect(free.list.items).toMatchObject([{ isLost: true }]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(free.list.items).toEqual([]);
    const { list, tell } = setUp({ held: true });
    tell(question(1));
    tell();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.items).toHaveLength(1);
  });

  it('believes a card that knows first, and counts at once', () => {
    const { list, news, tell } = setUp();
    tell(question(1), question(2));
    list.end({ elicitationId: 'el_1', status: 'accepted' });
    list.end({ elicitationId: 'el_1', status: 'accepted' });
    expect(list.waiting).toBe(1);
    expect(news.filter(({ ended }) => ended !== undefined)).toHaveLength(1);
  });

  it('stops with its timers, and goes on with what it knew', () => {
    const { list, news, tell, connect, followers } = setUp();
    connect('live');
    tell(question(1));
    list.stop();
    expect([followers(), vi.getTimerCount()]).toEqual([0, 0]);
    list.start();
    list.start();
    tell(question(1), question(2));
    expect(followers()).toBe(1);
    expect(news.at(-1)).toEqual({ arrived: [question(2)] });
    expect(list.connection).toBe('live');
  });
});
