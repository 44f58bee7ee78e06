import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spaced } from '../../../clients/console/src/timeline/picture.ts';
import {
  isTakeOver,
  ordered,
  rowsOf,
  type TimelineRun,
  type TimelineSpan,
  withoutOverlaps,
} from '../../../clients/console/src/timeline/rows.ts';
import { evenScale, isShortenedBetter, shortenedScale } from '../../../clients/console/src/timeline/scale.ts';

const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
const run = (streamRequestId: string, more: Partial<TimelineRun> = {}): TimelineRun => ({
  streamRequestId,
  agent: streamRequestId,
  status: 'running',
  startedAt: at(0),
  owners: [],
  steps: [],
  calls: [],
  waits: [],
  ...more,
});
const childOf = (parent: string) => ({ parent: { streamRequestId: parent, toolCallId: 'c' } });
const span = (start: number, end: number): TimelineSpan => ({
  kind: 'call',
  start,
  end,
  lasts: false,
  label: '',
});

describe('rows', () => {
  it.each([
    [
      'a delegate beneath its parent',
      [run('a'), run('b', childOf('a')), run('c', childOf('b')), run('d', childOf('a'))],
      ['a0', 'b1', 'c2', 'd1'],
    ],
    ['a run whose parent is not listed', [run('b', childOf('gone'))], ['b0']],
    ['parents in a circle', [run('a', childOf('b')), run('b', childOf('a'))], ['a0', 'b1']],
  ])('%s', (_, runs, order) => {
    expect(ordered(runs).map(({ run: { agent }, depth }) => `${agent}${depth}`)).toEqual(order);
  });

  it('what lasts ends now, and never before it began', () => {
    const owners = [{ state: 'owned', pod: 'p', term: 1, startedAt: at(5) }] as const;
    const [own, pods] = rowsOf({ conversationId: 'c', runs: [run('a', { owners })] }, 3_000);
    expect(own?.spans).toMatchObject([{ start: 0, end: 3_000, lasts: true }]);
    expect(pods?.spans).toMatchObject([{ start: 5_000, end: 5_000, lasts: true, label: 'p' }]);
  });

  it('a pod after a pod is a take-over; a pod after a queue or a detached time is none', () => {
    const owner = (state: 'owned' | 'queued' | 'detached', term: number) => ({
      state,
      term,
      startedAt: at(term),
    });
    const owners = [
      owner('owned', 1),
      owner('owned', 2),
      owner('detached', 3),
      owner('queued', 4),
      owner('owned', 5),
    ];
    expect(owners.map((_, index) => isTakeOver(owners, index))).toEqual([false, true, false, false, false]);
  });

  it('bars of a line never overlap, and none is lost', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1_000), fc.nat(300))), (given) => {
        const spans = given.map(([start, length]) => span(start, start + length));
        const found = withoutOverlaps(spans);
        expect(found.flat()).toHaveLength(spans.length);
        for (const line of found)
          for (const [index, one] of line.entries())
            expect(one.start).toBeGreaterThanOrEqual(line[index - 1]?.end ?? 0);
      }),
    );
  });
});

describe.each([
  ['even', evenScale],
  ['shortened', shortenedScale],
])('the %s scale', (_, scaleOf) => {
  it('keeps the order of moments, within the picture', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(1e9)), { minLength: 1, maxLength: 20 }), (given) => {
        const spans = given.map(([start, length]) => span(start, start + length));
        const scale = scaleOf([{ type: 'calls', run: 'a', depth: 0, agent: 'a', spans }]);
        const moments = spans.flatMap(({ start, end }) => [start, end]).sort((a, b) => a - b);
        const places = moments.map(scale.at);
        for (const [index, place] of places.entries()) {
          expect(place).toBeGreaterThanOrEqual(places[index - 1] ?? 0);
          expect(place).toBeLessThanOrEqual(1);
        }
        const ticks = spaced(scale.ticks, 600);
        expect(ticks[0]?.at).toBe(0);
        for (const [index, tick] of ticks.entries())
          if (index > 1) expect(tick.at - (ticks[index - 1]?.at ?? 0)).toBeGreaterThanOrEqual(68 / 600);
      }),
    );
  });
});

it.each([
  [
    'steps of a second and an hour of waiting',
    [span(0, 1e3), span(1e3, 2e3), span(2e3, 3.6e6), span(3.6e6, 3.601e6)],
    true,
  ],
  ['parts of a like length', [span(0, 1e3), span(1e3, 3e3), span(3e3, 4e3)], false],
  ['one part', [span(0, 3.6e6)], false],
])('%s', (_, spans, isShortened) => {
  expect(isShortenedBetter([{ type: 'calls', run: 'a', depth: 0, agent: 'a', spans }])).toBe(isShortened);
});
