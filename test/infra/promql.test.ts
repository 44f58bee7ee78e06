import { describe, expect, it } from 'vitest';
import { namesIn } from '../../infra/check/promql.ts';

const metrics = (expression: string): readonly string[] => namesIn(expression).uses.map((use) => use.metric);

describe('the names in a PromQL expression', () => {
  it.each([
    ['a', ['a']],
    ['sum by (x, y) (rate(a_total{z="q"}[5m]))', ['a_total']],
    ['sum(rate(a_total[$__rate_interval])) by (x)', ['a_total']],
    ['histogram_quantile(0.99, sum by (le) (rate(a_bucket[5m])))', ['a_bucket']],
    ['a / on(x) group_left(y) b > 0.5 and c unless d', ['a', 'b', 'c', 'd']],
    ['a{x="sum(b)", y=~"c|d"} offset 5m', ['a']],
    ['604800 + 3600', []],
  ])('%s', (expression, names) => {
    expect(metrics(expression)).toEqual(names);
  });

  it('keeps the labels that filter and those that group', () => {
    const { uses, grouped } = namesIn('sum by (x, y) (rate(a{b="1",c!~"2"}[5m])) / ignoring(z) d');
    expect(uses).toEqual([
      { metric: 'a', labels: ['b', 'c'] },
      { metric: 'd', labels: [] },
    ]);
    expect(grouped).toEqual(['x', 'y', 'z']);
  });
});
