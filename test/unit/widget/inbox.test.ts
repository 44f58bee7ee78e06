import { isTerminal } from '@parley/core/domain/elicitations/status';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Approval } from '../../../clients/widget/src/approval.ts';
import { agentOf } from '../../../clients/widget/src/card/head.ts';
import type { Elicitation } from '../../../clients/widget/src/elicitation.ts';
import {
  countWaiting,
  dropClosed,
  endLine,
  type InboxLine,
  merge,
} from '../../../clients/widget/src/inbox/lines.ts';
import { createInboxList, type ListUpdate, nextChangeMs } from '../../../clients/widget/src/inbox/list.ts';
import { endOfCalls, nameOf } from '../../../clients/widget/src/inbox/view.ts';
import type { Connection, ElicitationServer } from '../../../clients/widget/src/server/type.ts';
import { ENGLISH_APPROVAL } from '../../../clients/widget/src/strings/approval.ts';
import { ENGLISH } from '../../../clients/widget/src/strings/en.ts';
import { ENGLISH_INBOX } from '../../../clients/widget/src/strings/inbox.ts';

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

const KIND = {
  idOf: ({ elicitationId }: Elicitation) => elicitationId,
  hasEnded: ({ status }: Pick<Elicitation, 'status'>) => isTerminal(status),
};
const mergeInto = (lines: readonly InboxLine<Elicitation>[], open: readonly Elicitation[], at: number) =>
  merge(KIND, lines, open, at);

const idsOf = (lines: readonly InboxLine<Elicitation>[]) => lines.map(({ id }) => id);

describe('the lines of an inbox', () => {
  it('are sorted newest first, whatever the order of the server', () => {
    expect(
      idsOf(
        mergeInto(
          [],
          [2, 3, 1].map((id) => question(id)),
          0,
        ).lines,
      ),
    ).toEqual(['el_3', 'el_2', 'el_1']);
  });

  it('keep closed questions with the time they closed, and report new and closed ones', () => {
    const before = mergeInto([], [question(1), question(2)], 0).lines;
    const { lines, arrived, closed } = mergeInto(before, [question(1), question(3)], 50);
    expect(lines.map(({ id, closedAt }) => [id, closedAt])).toEqual([
      ['el_3', undefined],
      ['el_2', 50],
      ['el_1', undefined],
    ]);
    expect(arrived.map(({ elicitationId }) => elicitationId)).toEqual(['el_3']);
    expect(closed).toEqual(['el_2']);
    expect(mergeInto(lines, [question(1), question(3)], 99)).toMatchObject({ arrived: [], closed: [] });
    expect(countWaiting(lines)).toBe(2);
  });

  it('never reopen a settled question, but reopen one that was only missing from a list', () => {
    const ended = endLine(
      KIND,
      mergeInto([], [question(1)], 0).lines,
      { id: 'el_1', end: { status: 'accepted' } },
      7,
    );
    expect(mergeInto(ended, [question(1)], 9).lines).toEqual(ended);
    const missing = mergeInto(mergeInto([], [question(1)], 0).lines, [], 7).lines;
    expect(mergeInto(missing, [question(1)], 9).lines).toEqual([{ id: 'el_1', item: question(1) }]);
  });

  it('disappear when their time is up, unless they are in use', () => {
    const lines = mergeInto(mergeInto([], [question(1), question(2)], 0).lines, [], 100).lines;
    expect(dropClosed(lines, 99, () => false)).toBe(lines);
    expect(idsOf(dropClosed(lines, 100, (id) => id === 'el_2'))).toEqual(['el_2']);
    expect(dropClosed(lines, 100, () => false)).toEqual([]);
  });

  it('agree with a plain set, for any sequence of lists and ends', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 6 }));
    const step = fc.oneof(
      ids.map((open) => ({ open })),
      fc.integer({ min: 1, max: 6 }).map((ended) => ({ ended })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let lines: readonly InboxLine<Elicitation>[] = [];
        let waiting = new Set<string>();
        const over = new Set<string>();
        steps.forEach((each, at) => {
          if ('open' in each) {
            lines = mergeInto(
              lines,
              each.open.map((id) => question(id)),
              at,
            ).lines;
            waiting = new Set(each.open.map((id) => `el_${id}`).filter((id) => !over.has(id)));
          } else {
            const id = `el_${each.ended}`;
            if (idsOf(lines).includes(id)) over.add(id);
            lines = endLine(KIND, lines, { id, end: { status: 'declined' } }, at);
            waiting.delete(id);
          }
          expect(new Set(idsOf(lines.filter(({ closedAt }) => closedAt === undefined)))).toEqual(waiting);
          expect(idsOf(lines)).toEqual([...new Set(idsOf(lines))].sort().reverse());
        });
      }),
    );
  });
});

describe('the asker', () => {
  const askerOf = (context: NonNullable<Elicitation['context']>) =>
    agentOf(question(1, { context }), undefined, ENGLISH);

  it('is the agent that the question names', () => {
    expect(askerOf({ trigger: 'agent', agent: 'Helper', server: 'Bank' })).toBe('Helper');
  });

  it('is the service behind the chat without that name, never the service that the question is about', () => {
    const context = { trigger: 'credential_required', server: 'Bank', toolName: 'Bank' };
    expect(askerOf(context)).toBe('the service behind this chat');
    expect(askerOf({ trigger: 'agent', agent: ' ' })).toBe('the service behind this chat');
  });
});

describe('a line', () => {
  it("is named by its question's title, or by the beginning of its message, on one line", () => {
    expect(nameOf(question(1, { title: ' Paint\nthe door ' }))).toBe('Paint the door');
    expect(nameOf(question(1, { title: ' ', message: 'Which\n\tcolour?' }))).toBe('Which colour?');
    expect(nameOf(question(1, { title: 'a\u202eb' }))).toBe('a[U+202E]b');
  });

  it('has a long name cut, and never within a character', () => {
    const name = nameOf(question(1, { message: '🎨'.repeat(5_000) }));
    expect([...name]).toHaveLength(140);
    expect(name.isWellFormed()).toBe(true);
    expect(nameOf(question(1, { message: 'x'.repeat(140) }))).toBe('x'.repeat(140));
  });
});

describe('the end of a step', () => {
  const words = { ...ENGLISH, ...ENGLISH_INBOX, ...ENGLISH_APPROVAL };
  const linesOf = (...statuses: readonly Approval['status'][]) =>
    statuses.map((status, at): InboxLine<Approval> => {
      const tool = { server: 'bank', name: 'bank_pay', title: `Pay ${at}` };
      return { id: `ap_${at}`, item: { approvalId: `ap_${at}`, tool, arguments: {}, status } };
    });

  it('is one sentence when all calls ended alike, and otherwise one for each call', () => {
    const isHere = (id: string) => id !== 'ap_2';
    expect(endOfCalls(linesOf('denied'), words, isHere)).toBe('You denied this.');
    expect(endOfCalls(linesOf('approved', 'approved'), words, isHere)).toBe('You approved this.');
    expect(endOfCalls(linesOf('approved', 'denied', 'approved'), words, isHere)).toBe(
      'Pay 0: You approved this. Pay 1: You denied this. Pay 2: This was approved somewhere else.',
    );
  });
});

describe('the times of an inbox', () => {
  it('are updated every second near a deadline, else four times a minute', () => {
    expect(nextChangeMs(0, [])).toBe(15_000);
    expect(nextChangeMs(0, [60 * MINUTE, Number.NaN])).toBe(15_000);
    expect(nextChangeMs(0, [60 * MINUTE, 10 * MINUTE])).toBe(1_000);
    expect(nextChangeMs(0, [-MINUTE])).toBe(15_000);
    expect(nextChangeMs(0, [10 * MINUTE + 4_000])).toBe(4_000);
  });
});

describe('the list', () => {
  /** A list on a server that the test plays. */
  function setUp({ inUse = false } = {}) {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    let sendOpen: (open: readonly Elicitation[]) => void = () => undefined;
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
        sendOpen = listener;
        connect = onConnection ?? connect;
        return () => {
          followers -= 1;
        };
      },
    };
    const updates: ListUpdate<Elicitation>[] = [];
    const list = createInboxList<Elicitation>({
      ...KIND,
      now: server.now,
      read: server.read,
      follow: server.followInbox,
      isInUse: () => inUse,
      onUpdate: (update) => updates.push(update),
    });
    list.start();
    return {
      list,
      updates,
      ended,
      followers: () => followers,
      sendOpen: (...open: Elicitation[]) => sendOpen(open),
      connect: (state: Connection) => connect(state),
    };
  }

  it('reports new questions, but not those of its first list', () => {
    const { list, updates, sendOpen } = setUp();
    expect(list.waiting).toBeUndefined();
    sendOpen(question(1));
    expect(updates).toEqual([{}]);
    sendOpen(question(1), question(2));
    expect(updates.at(-1)).toEqual({ arrived: [question(2)] });
    expect(list.waiting).toBe(2);
  });

  it('reads how a question ended, reports it, and removes the line after it could be read', async () => {
    const { list, updates, ended, sendOpen } = setUp();
    sendOpen(question(1));
    ended.set('el_1', question(1, { status: 'withdrawn', reason: 'superseded' }));
    sendOpen();
    await vi.advanceTimersByTimeAsync(0);
    expect(updates.at(-1)?.ended).toMatchObject({ status: 'withdrawn', reason: 'superseded' });
    await vi.advanceTimersByTimeAsync(4_000);
    expect(list.lines).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(list.lines).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('removes a line whose end cannot be read, and keeps one in use', async () => {
    const free = setUp();
    free.sendOpen(question(1));
    free.sendOpen();
    await vi.advanceTimersByTimeAsync(0);
    expect(free.list.lines).toMatchObject([{ isUnknown: true }]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(free.list.lines).toEqual([]);
    const { list, sendOpen } = setUp({ inUse: true });
    sendOpen(question(1));
    sendOpen();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(list.lines).toHaveLength(1);
  });

  it('accepts the end that a card reports first, and updates the count at once', () => {
    const { list, updates, sendOpen } = setUp();
    sendOpen(question(1), question(2));
    list.recordEnd({ id: 'el_1', end: { status: 'accepted' } });
    list.recordEnd({ id: 'el_1', end: { status: 'accepted' } });
    expect(list.waiting).toBe(1);
    expect(updates.filter(({ ended }) => ended !== undefined)).toHaveLength(1);
  });

  it('stops its timers, and keeps its lines when it starts again', () => {
    const { list, updates, sendOpen, connect, followers } = setUp();
    connect('live');
    sendOpen(question(1));
    list.stop();
    expect([followers(), vi.getTimerCount()]).toEqual([0, 0]);
    list.start();
    list.start();
    sendOpen(question(1), question(2));
    expect(followers()).toBe(1);
    expect(updates.at(-1)).toEqual({ arrived: [question(2)] });
    expect(list.connection).toBe('live');
  });
});
