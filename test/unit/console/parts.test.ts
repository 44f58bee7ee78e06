import { describe, expect, it } from 'vitest';
import { changeOf } from '../../../clients/console/src/api/live.ts';
import { largestOf, placesOf } from '../../../clients/console/src/charts/bars.ts';
import { hrefOfId } from '../../../clients/console/src/parts/reasons.ts';
import { wordOf } from '../../../clients/console/src/parts/texts.ts';
import { shortDuration } from '../../../clients/console/src/parts/times.ts';

it.each([
  [340, '340 ms'],
  [2_440, '2.4 s'],
  [192_000, '3 min 12 s'],
  [14_700_000, '4 h 5 min'],
  [183_600_000, '2 d 3 h'],
  [86_400_000, '1 d'],
])('%i ms is written %s', (ms, text) => {
  expect(shortDuration(ms, 'en')).toBe(text);
});

it.each([
  ['pending', 'Waiting'],
  ['of a newer server', 'of a newer server'],
  ['constructor', 'constructor'],
  ['\u202eevil', '[U+202E]evil'],
])('the state %j reads %j', (state, word) => {
  expect(wordOf({ pending: 'Waiting' }, state)).toBe(word);
});

it.each([
  ['{"kind":"turn","id":"sr_1","at":"x"}', { kind: 'turn', id: 'sr_1' }],
  ['{"kind":"other","id":"x"}', undefined],
  ['{"kind":"turn"}', undefined],
  ['null', undefined],
  ['no json', undefined],
])('an event %s tells of %j', (data, change) => {
  expect(changeOf(data)).toEqual(change);
});

it.each([
  ['el_1', '/console/elicitations/el_1'],
  ['ap_1', '/console/approvals/ap_1'],
  ['sr_1', '/console/turns/sr_1?userId=alice'],
])('the id %s leads to %s', (id, href) => {
  expect(hrefOfId(id, 'alice')).toBe(href);
});

describe('bars', () => {
  const bar = (...values: number[]) => ({ parts: values.map((value) => ({ name: '', value, tone: '' })) });
  it.each([
    [[2, 2], 4, [0, 0.5, 1]],
    [[0, 4], 4, [0, 0, 1]],
    [[1, 0], 1_000, [0, 0.01, 0.01]],
    [[0, 0], 0, [0, 0, 0]],
    [[-3, 1], 1, [0, 0, 1]],
  ])('of %j with the longest of %i stand at %j', (values, largest, edges) => {
    const places = placesOf(bar(...values), largest);
    expect([0, ...places.map(({ to }) => to)]).toEqual(edges);
  });
  it('the longest counts all parts', () => {
    expect([largestOf([bar(1, 2), bar(4)]), largestOf([])]).toEqual([4, 0]);
  });
});
