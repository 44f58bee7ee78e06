/**
 * Compares the metric names in PromQL expressions with those that the services expose. Which files contain expressions is known
 * in `telemetry.ts`.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { z } from 'zod';

const metrics = z.record(
  z.string(),
  z.strictObject({
    type: z.enum(['counter', 'gauge', 'histogram']),
    labels: z.array(z.string()).default([]),
    /** `installation`: every pod that reports it reports the same number, so it must not be summed. */
    scope: z.enum(['pod', 'installation']).default('pod'),
    help: z.string().min(1),
  }),
);

/** The metrics of Parley's services, with their types, labels and scopes, by name. */
export type Metrics = z.infer<typeof metrics>;

/** Reads infra/telemetry/metrics.json. Throws if it does not match its schema. */
export function readMetrics(root: string): Metrics {
  return metrics.parse(JSON.parse(readFileSync(join(root, 'infra/telemetry/metrics.json'), 'utf8')));
}

/** The names in a PromQL expression: series, labels in filters, and labels by which it groups or joins. */
type Names = {
  readonly series: readonly string[];
  /** Series without a filter by job, which may therefore belong to another application. */
  readonly ofAnyJob: readonly string[];
  readonly filters: readonly string[];
  readonly groups: readonly string[];
};

/**
 * Parses an expression with Prometheus' own grammar. Grafana's variables are replaced by durations. Undefined: a syntax error.
 */
function readNames(expression: string): Names | undefined {
  const text = expression.replaceAll(/\$__\w+/g, '5m');
  const names = {
    series: [] as string[],
    ofAnyJob: [] as string[],
    filters: [] as string[],
    groups: [] as string[],
  };
  let valid = true;
  parser.parse(text).iterate({
    enter: ({ type, node, from, to }) => {
      if (type.isError) valid = false;
      if (type.name === 'Identifier' && node.parent?.name === 'VectorSelector') {
        names.series.push(text.slice(from, to));
        const selector = text.slice(to, node.parent.to);
        if (!/[{,]\s*job\s*=/u.test(selector)) names.ofAnyJob.push(text.slice(from, to));
      }
      if (type.name !== 'LabelName') return;
      const list = node.parent?.name === 'GroupingLabels' ? names.groups : names.filters;
      list.push(text.slice(from, to));
    },
  });
  return valid ? names : undefined;
}

/**
 * The metric to which a series belongs; for example, `a_bucket` belongs to the histogram `a`. Undefined if no service exposes
 * it.
 */
function findMetric(series: string, known: Metrics): string | undefined {
  const stem = series.replace(/_(bucket|sum|count)$/, '');
  if (stem !== series && known[stem]?.type === 'histogram') return stem;
  return known[series] === undefined || known[series].type === 'histogram' ? undefined : series;
}

/** The metrics that an expression uses. */
export function usedMetrics(expression: string, known: Metrics): readonly string[] {
  return (readNames(expression)?.series ?? []).flatMap((series) => findMetric(series, known) ?? []);
}

/** The faults of an expression that must not read the metrics of other applications in the same Prometheus. */
export function jobProblems(expression: string): readonly string[] {
  const { ofAnyJob = [] } = readNames(expression) ?? {};
  return ofAnyJob.map((series) => `${series} is not filtered by job`);
}

/** The faults of an expression. `legend` is Grafana's template for the name of each line. */
export function expressionProblems(expression: string, known: Metrics, legend = ''): readonly string[] {
  const names = readNames(expression);
  if (names === undefined || names.series.length === 0) return ['is no PromQL expression over a metric'];
  const labels = new Set(['instance', 'job']);
  const problems: string[] = [];
  for (const series of names.series.filter((name) => name !== 'up')) {
    const metric = known[findMetric(series, known) ?? ''];
    if (metric === undefined) problems.push(`unknown metric ${series}`);
    for (const label of [...(metric?.labels ?? []), ...(series.endsWith('_bucket') ? ['le'] : [])])
      labels.add(label);
    if (metric?.scope === 'installation' && /\b(sum|avg|count)\b/.test(expression))
      problems.push(`${series} is the same on every pod and must not be summed`);
  }
  for (const label of [...names.filters, ...names.groups].filter((name) => !labels.has(name)))
    problems.push(`unknown label ${label}`);
  for (const [, label = ''] of legend.matchAll(/\{\{(\w+)\}\}/g))
    if (!names.groups.includes(label)) problems.push(`its legend names ${label}, which the expression drops`);
  return problems;
}
