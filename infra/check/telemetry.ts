import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fits, listFiles, readYaml } from './documents.ts';
import { baseName, type Metrics, readMetrics, unknownNames } from './metric-names.ts';
import { namesIn } from './promql.ts';
import { findProgram, lastLines, run } from './tools.ts';
import { type Check, judge, notRun, type Verdict } from './verdict.ts';

const directory = 'infra/telemetry';
const runbooks = 'docs/operations.md';

const alertFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Parley[A-Za-z]+$/),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({
            summary: z.string(),
            runbook: z.string().startsWith(`${runbooks}#`),
          }),
        }),
      ),
    }),
  ),
});

const dashboardFile = z.looseObject({
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      type: z.string(),
      title: z.string().min(1),
      datasource: z.strictObject({ type: z.string(), uid: z.string() }).optional(),
      targets: z
        .array(z.looseObject({ refId: z.string(), expr: z.string(), legendFormat: z.string().optional() }))
        .optional(),
    }),
  ),
});

type Dashboard = z.infer<typeof dashboardFile>;

/** Metrics, dashboards, alerts and the collector: each names only what exists, and every metric is looked at. */
export const telemetryChecks: readonly Check[] = [
  { name: 'telemetry metrics list', run: (root) => judge(readMetrics(root).problems) },
  { name: 'telemetry alerts', run: (root) => judge(alertProblems(root)) },
  { name: 'telemetry dashboards', run: (root) => judge(dashboardProblems(root)) },
  { name: 'telemetry shows every metric somewhere', run: (root) => judge(unseenMetrics(root)) },
  { name: 'telemetry collector pipelines', run: (root) => judge(collectorProblems(root)) },
  {
    name: 'promtool accepts prometheus.yml',
    run: (root) => promtool(root, ['check', 'config', 'prometheus.yml']),
  },
  { name: 'promtool test rules', run: (root) => promtool(root, ['test', 'rules', 'alerts.test.yml']) },
];

function readAlerts(root: string): {
  readonly rules: readonly z.infer<typeof alertFile>['groups'][number]['rules'][number][];
  readonly problems: readonly string[];
} {
  const file = readYaml(root, `${directory}/alerts.yml`);
  const checked = fits(alertFile, file.values[0], 'alerts.yml');
  return {
    rules: (checked.value?.groups ?? []).flatMap((group) => group.rules),
    problems: [...file.problems, ...checked.problems],
  };
}

function alertProblems(root: string): readonly string[] {
  const { value: known } = readMetrics(root);
  const { rules, problems } = readAlerts(root);
  const sections = headings(readFileSync(join(root, runbooks), 'utf8'));
  const named = rules.flatMap((rule) => {
    const anchor = rule.annotations.runbook.slice(runbooks.length + 1);
    const faults = [...unknownNames(rule.expr, known)];
    if (!sections.has(anchor)) faults.push(`${runbooks} has no section #${anchor}`);
    return faults.map((fault) => `${rule.alert}: ${fault}`);
  });
  return [...problems, ...named];
}

/** The anchors that a Markdown page offers, as code hosts make them. */
function headings(page: string): ReadonlySet<string> {
  const lines = page.split('\n').filter((line) => /^#{1,6} /.test(line));
  return new Set(
    lines.map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function readDashboards(root: string): {
  readonly dashboards: readonly { readonly file: string; readonly value: Dashboard }[];
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const dashboards: { file: string; value: Dashboard }[] = [];
  for (const file of listFiles(root, `${directory}/grafana/dashboards`, ['.json'])) {
    const checked = fits(dashboardFile, JSON.parse(readFileSync(join(root, file), 'utf8')), file);
    problems.push(...checked.problems);
    if (checked.value !== undefined) dashboards.push({ file, value: checked.value });
  }
  return { dashboards, problems };
}

function dashboardProblems(root: string): readonly string[] {
  const { value: known } = readMetrics(root);
  const { dashboards, problems } = readDashboards(root);
  const sources = readYaml(root, `${directory}/grafana/provisioning/datasources/prometheus.yaml`);
  const uids = JSON.stringify(sources.values);
  const found = [...problems, ...sources.problems];
  if (dashboards.length === 0) found.push('there is no dashboard');
  for (const { file, value } of dashboards) {
    const ids = value.panels.map((panel) => panel.id);
    if (new Set(ids).size !== ids.length) found.push(`${file}: two panels share an id`);
    for (const panel of value.panels.filter((item) => item.type !== 'row')) {
      const faults = panelProblems(panel, known);
      if (!uids.includes(`"uid":"${panel.datasource?.uid}"`))
        faults.push('its data source is not provisioned');
      found.push(...faults.map((fault) => `${file} panel "${panel.title}": ${fault}`));
    }
  }
  return found;
}

function panelProblems(panel: Dashboard['panels'][number], known: Metrics): string[] {
  if (panel.targets === undefined || panel.targets.length === 0) return ['shows nothing'];
  return panel.targets.flatMap(({ expr, legendFormat }) => {
    const shown = [...(legendFormat ?? '').matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? '');
    const kept = namesIn(expr).grouped;
    return [
      ...unknownNames(expr, known),
      ...shown
        .filter((label) => !kept.includes(label))
        .map((label) => `its legend wants ${label}, which is gone`),
    ];
  });
}

function unseenMetrics(root: string): readonly string[] {
  const { value: known } = readMetrics(root);
  const panels = readDashboards(root).dashboards.flatMap(({ value }) => value.panels);
  const expressions = panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr));
  const seen = new Set(
    expressions.flatMap((text) => namesIn(text).uses.map((use) => baseName(use.metric, known))),
  );
  return Object.keys(known)
    .filter((name) => !seen.has(name))
    .map((name) => `${name} is on no dashboard`);
}

const components = z.record(z.string(), z.unknown());
const collector = z.looseObject({
  receivers: components,
  processors: components,
  exporters: components,
  service: z.looseObject({
    pipelines: z.record(
      z.string(),
      z.strictObject({
        receivers: z.array(z.string()).min(1),
        processors: z.array(z.string()),
        exporters: z.array(z.string()).min(1),
      }),
    ),
  }),
});

function collectorProblems(root: string): readonly string[] {
  const file = readYaml(root, `${directory}/otel-collector.yaml`);
  const { value, problems } = fits(collector, file.values[0], 'otel-collector.yaml');
  const missing = Object.entries(value?.service.pipelines ?? {}).flatMap(([name, pipeline]) =>
    (['receivers', 'processors', 'exporters'] as const).flatMap((kind) =>
      pipeline[kind]
        .filter((part) => !Object.hasOwn(value?.[kind] ?? {}, part))
        .map((part) => `pipeline ${name} uses ${part}, which is not under ${kind}`),
    ),
  );
  return [...file.problems, ...problems, ...missing];
}

async function promtool(root: string, args: readonly string[]): Promise<Verdict> {
  const program = findProgram('promtool');
  if (program === undefined) return notRun('promtool is not installed');
  const { code, output } = await run(program, args, { cwd: join(root, directory) });
  return judge(code === 0 ? [] : [lastLines(output, 6)]);
}
