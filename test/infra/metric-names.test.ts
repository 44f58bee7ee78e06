import { describe, expect, it } from 'vitest';
import {
  expressionProblems,
  jobProblems,
  type Metrics,
  usedMetrics,
} from '../../infra/check/metric-names.ts';

const labels = ['x', 'y'];
const known: Metrics = {
  a: { type: 'gauge', labels, scope: 'pod', help: 'a' },
  a_total: { type: 'counter', labels, scope: 'pod', help: 'a' },
  b: { type: 'gauge', labels, scope: 'installation', help: 'b' },
  h: { type: 'histogram', labels, scope: 'pod', help: 'h' },
};

describe('an expression', () => {
  it.each([
    ['a', ['a']],
    ['sum by (x, y) (rate(a_total{x="q"}[5m]))', ['a_total']],
    ['sum(rate(a_total[$__rate_interval])) by (x)', ['a_total']],
    ['histogram_quantile(0.99, sum by (le) (rate(h_bucket[5m])))', ['h']],
    ['a / on(x) group_left(y) b > 0.5 and h_count unless a_total', ['a', 'b', 'h', 'a_total']],
    ['a{x="sum(b)", y=~"c|d"} offset 5m', ['a']],
  ])('%s uses only metrics that exist', (expression, metrics) => {
    expect(usedMetrics(expression, known)).toEqual(metrics);
    expect(expressionProblems(expression, known)).toEqual([]);
  });

  it.each([
    ['604800 + 3600', ['is no PromQL expression over a metric']],
    ['sum(a', ['is no PromQL expression over a metric']],
    ['c', ['unknown metric c']],
    ['h', ['unknown metric h']],
    ['a_bucket', ['unknown metric a_bucket']],
    ['a{z="1"}', ['unknown label z']],
    ['sum by (z) (a)', ['unknown label z']],
    ['sum by (le) (a)', ['unknown label le']],
    ['sum(b)', ['b is the same on every pod and must not be summed']],
  ])('%s is refused', (expression, problems) => {
    expect(expressionProblems(expression, known)).toEqual(problems);
  });

  it.each([
    ['a{job="x"} + rate(h_bucket{le="1",job=~"$job"}[5m])', []],
    ['a + sum(a_total{x="job=", y="1"}) + b{job="x"}', ['a', 'a_total']],
  ])('%s reads of every job: %j', (expression, series) => {
    expect(jobProblems(expression)).toEqual(series.map((one) => `${one} is not filtered by job`));
  });

  it('is refused when the legend names a label that the expression drops', () => {
    expect(expressionProblems('sum by (x) (a)', known, '{{x}} {{y}}')).toEqual([
      'its legend names y, which the expression drops',
    ]);
  });
});
