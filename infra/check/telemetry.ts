/** Checks that alerts and dashboards use only names that exist. Reading names from an expression is in `metric-names.ts`. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readYaml, schemaProblems } from './documents.ts';
import { expressionProblems, jobProblems, type Metrics, readMetrics, usedMetrics } from './metric-names.ts';
import { programCheck } from './programs.ts';
import { type Check, judge } from './verdict.ts';

const directory = 'infra/telemetry';
const runbooks = 'docs/operations.md';

/** Checks metrics, dashboards and alerts. promtool checks the form; the other checks are about names that must exist. */
export const telemetryChecks: readonly Check[] = [
  programCheck('promtool check config', 'promtool', () => ['check', 'config', `${directory}/prometheus.yml`]),
  programCheck('promtool test rules', 'promtool', () => ['test', 'rules', `${directory}/alerts.test.yml`]),
  { name: 'alert names', run: (root) => judge(alertProblems(root)) },
  { name: 'dashboard names', run: (root) => judge(dashboardProblems(root)) },
];

const rule = z.looseObject({
  alert: z.string(),
  expr: z.string(),
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string(), runbook: z.string().startsWith(`${runbooks}#`) }),
});
const alerts = z.looseObject({ groups: z.array(z.looseObject({ rules: z.array(rule) })) });

/** Every alert uses only existing metrics and has a section in the runbook. */
function alertProblems(root: string): readonly string[] {
  const [value] = readYaml(root, `${directory}/alerts.yml`).values;
  const known = readMetrics(root);
  const page = readFileSync(join(root, runbooks), 'utf8').toLowerCase();
  const rules = alerts.safeParse(value).data?.groups.flatMap((group) => group.rules) ?? [];
  const named = rules.flatMap(({ alert, expr, annotations }) => {
    const section = annotations.runbook.slice(runbooks.length + 1);
    const found = page.includes(`\n### ${section}\n`);
    const problems = [
      ...expressionProblems(expr, known),
      ...jobProblems(expr),
      ...(found ? [] : [`${runbooks} has no section ${section}`]),
    ];
    return problems.map((problem) => `${alert}: ${problem}`);
  });
  return [...schemaProblems(alerts, value, 'alerts.yml'), ...named];
}

const target = z.looseObject({ expr: z.string(), legendFormat: z.string().optional() });
const panel = z.looseObject({
  title: z.string(),
  datasource: z.looseObject({ uid: z.string() }),
  targets: z.array(target).min(1),
});
// `label_values(series, label)`
const LABEL_VALUES = /^label_values\(([^,]+), (\w+)\)$/;
const variable = z.looseObject({
  name: z.string(),
  datasource: z.looseObject({ uid: z.string() }),
  query: z.looseObject({ query: z.string().regex(LABEL_VALUES) }),
});
const dashboard = z.looseObject({
  panels: z.array(z.looseObject({ type: z.string() })),
  templating: z.looseObject({ list: z.array(variable) }),
});

/** Every panel uses only existing metrics and labels, and every metric appears on a panel. */
function dashboardProblems(root: string): readonly string[] {
  const known = readMetrics(root);
  const unused = new Set(Object.keys(known));
  const folder = `${directory}/grafana`;
  const sources = JSON.stringify(readYaml(root, `${folder}/provisioning/datasources/prometheus.yaml`).values);
  const problems: string[] = [];
  for (const file of readdirSync(join(root, folder, 'dashboards'))) {
    const json = JSON.parse(readFileSync(join(root, folder, 'dashboards', file), 'utf8'));
    problems.push(...variableProblems(json, known, sources).map((problem) => `${file} ${problem}`));
    for (const { title, datasource, targets } of readPanels(json)) {
      const found = targets.flatMap(({ expr, legendFormat }) => [
        ...expressionProblems(expr, known, legendFormat),
        ...jobProblems(expr),
      ]);
      if (!sources.includes(`"uid":"${datasource.uid}"`)) found.push('its data source is not provisioned');
      problems.push(...found.map((problem) => `${file} panel "${title}": ${problem}`));
      for (const { expr } of targets) for (const metric of usedMetrics(expr, known)) unused.delete(metric);
    }
  }
  return [...problems, ...[...unused].map((name) => `${name} is on no dashboard`)];
}

/** Every variable reads existing labels of Parley's jobs. */
function variableProblems(json: unknown, known: Metrics, sources: string): readonly string[] {
  return dashboard.parse(json).templating.list.flatMap(({ name, datasource, query }) => {
    const [, series = '', label = ''] = LABEL_VALUES.exec(query.query) ?? [];
    const expression = `sum by (${label}) (${series})`;
    const found = [...expressionProblems(expression, known)];
    // The other variables are filtered by the variable of jobs.
    if (name !== 'job') found.push(...jobProblems(expression));
    if (!sources.includes(`"uid":"${datasource.uid}"`)) found.push('its data source is not provisioned');
    return found.map((problem) => `variable "${name}": ${problem}`);
  });
}

function readPanels(json: unknown): readonly z.infer<typeof panel>[] {
  return dashboard
    .parse(json)
    .panels.filter(({ type }) => type !== 'row')
    .map((value) => panel.parse(value));
}
