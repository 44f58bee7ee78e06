import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fits } from './documents.ts';
import { namesIn } from './promql.ts';

/** The one list of what Parley's services expose, relative to the root. */
export const metricsFile = 'infra/telemetry/metrics.json';

const metrics = z.record(
  z.string().regex(/^[a-z_]+$/),
  z.strictObject({
    type: z.enum(['counter', 'gauge', 'histogram']),
    labels: z.array(z.string().regex(/^[a-z_]+$/)),
    /** `installation`: every pod that reports it reports the same number, so it is never summed. */
    scope: z.enum(['pod', 'installation']),
    help: z.string().min(1),
  }),
);

/** The list itself. */
export type Metrics = z.infer<typeof metrics>;

/** Labels that Prometheus adds by itself. */
const added = ['instance', 'job'];

/** Reads the list; counters end in `_total`, nothing else does. */
export function readMetrics(root: string): { readonly value: Metrics; readonly problems: readonly string[] } {
  const checked = fits(metrics, JSON.parse(readFileSync(join(root, metricsFile), 'utf8')), metricsFile);
  const value = checked.value ?? {};
  const named = Object.entries(value)
    .filter(([name, { type }]) => name.endsWith('_total') !== (type === 'counter'))
    .map(([name, { type }]) => `${metricsFile}: ${name} is a ${type} and its name says otherwise`);
  return { value, problems: [...checked.problems, ...named] };
}

/** What an expression names that no service exposes: metrics, labels, and sums over what must not be summed. */
export function unknownNames(expression: string, known: Metrics): readonly string[] {
  const { uses, grouped } = namesIn(expression);
  const problems: string[] = [];
  const labels = new Set<string>(added);
  if (uses.length === 0) problems.push('names no metric');
  for (const use of uses) {
    const own = labelsOf(use.metric, known);
    if (own === undefined) {
      problems.push(`unknown metric ${use.metric}`);
      continue;
    }
    for (const label of own) labels.add(label);
    for (const label of use.labels.filter((name) => !own.includes(name))) {
      problems.push(`${use.metric} has no label ${label}`);
    }
    if (known[use.metric]?.scope === 'installation' && /\b(sum|avg|count)\b/.test(expression)) {
      problems.push(`${use.metric} is the same on every pod and must not be summed`);
    }
  }
  for (const label of grouped.filter((name) => !labels.has(name)))
    problems.push(`groups by unknown label ${label}`);
  return problems;
}

/** The metric in the list that a series name belongs to. */
export function baseName(series: string, known: Metrics): string | undefined {
  const stem = series.replace(/_(bucket|sum|count)$/, '');
  if (known[stem]?.type === 'histogram') return stem === series ? undefined : stem;
  return known[series] === undefined ? undefined : series;
}

function labelsOf(series: string, known: Metrics): readonly string[] | undefined {
  if (series === 'up') return added;
  const name = baseName(series, known);
  if (name === undefined) return undefined;
  const extra = series.endsWith('_bucket') ? ['le'] : [];
  return [...(known[name]?.labels ?? []), ...extra, ...added];
}
