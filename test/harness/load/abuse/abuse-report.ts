import { cpus } from 'node:os';
import { quantile } from '../../../../bench/measurement.ts';
import { formatReport, type Report } from '../../history/report.ts';
import { prove, SIZE, writeReport } from '../size.ts';
import type { AbuseRun } from './abuse-run.ts';
import type { AbuseMode } from './attacks.ts';
import { PHASES, type Phase, p99 } from './samples.ts';

/** The 99th percentile of an operation may at most double. */
export const RATIO_MAX = 2;

/** Latencies of one operation in ms, and how they compare. */
export interface Comparison {
  readonly operation: string;
  readonly counts: Readonly<Record<Phase, number>>;
  readonly median: Readonly<Record<Phase, number>>;
  readonly p99: Readonly<Record<Phase, number>>;
  /** 99th percentile with a kind of abuse, divided by that without. */
  readonly ratio: Readonly<Record<'user' | 'key', number>>;
}

/** Compares the latencies of each operation. */
export function compare({ samples }: Pick<AbuseRun, 'samples'>): Comparison[] {
  return samples.operations().map((operation) => {
    const by = (read: (latencies: readonly number[]) => number) =>
      Object.fromEntries(PHASES.map((phase) => [phase, read(samples.of(operation, phase))])) as Record<
        Phase,
        number
      >;
    const high = by(p99);
    return {
      operation,
      counts: by(({ length }) => length),
      median: by((latencies) => quantile(latencies, 0.5)),
      p99: high,
      ratio: { user: high.user / high.baseline, key: high.key / high.baseline },
    };
  });
}

/** A Markdown table of the comparisons. */
export function formatComparisons(comparisons: readonly Comparison[]): string {
  const ms = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(1));
  const times = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(2));
  return [
    '| operation | samples without, with the user, with the key | median ms | p99 ms | ratio of p99: user | key |',
    '|---|--:|--:|--:|--:|--:|',
    ...comparisons.map(
      ({ operation, counts, median, p99: high, ratio }) =>
        `| ${operation} | ${PHASES.map((phase) => counts[phase]).join(' / ')} | ${PHASES.map((phase) => ms(median[phase])).join(' / ')} | ${PHASES.map((phase) => ms(high[phase])).join(' / ')} | ${times(ratio.user)} | ${times(ratio.key)} |`,
    ),
  ].join('\n');
}

/** A Markdown table of the processor time of each part, in percent of one core. */
export function formatCpu({ cpu }: Pick<AbuseRun, 'cpu'>): string {
  const names = [...new Set(PHASES.flatMap((phase) => Object.keys(cpu[phase].used)))];
  const share = (phase: Phase, name: string) =>
    `${((100 * (cpu[phase].used[name] ?? 0)) / Math.max(cpu[phase].seconds, 1)).toFixed(0)} %`;
  return [
    `| processor time, in percent of one core | ${PHASES.join(' | ')} |`,
    '|---|--:|--:|--:|',
    ...names.map((name) => `| ${name} | ${PHASES.map((phase) => share(phase, name)).join(' | ')} |`),
  ].join('\n');
}

/** A Markdown table of what the abuser got. */
export function formatReplies({ replies }: Pick<AbuseRun, 'replies'>): string {
  const rows = (['user', 'key'] as const).flatMap((mode) =>
    Object.entries(replies[mode]).map(
      ([attack, counts]) =>
        `| ${mode} | ${attack} | ${Object.entries(counts)
          .map(([reply, count]) => `${reply}: ${count}`)
          .join(', ')} |`,
    ),
  );
  return ['| abuser | attack | replies |', '|---|---|---|', ...rows].join('\n');
}

/** Adds the run to the report of the proofs; a soak also writes docs/reports/abuse.md. */
export function reportAbuse(run: AbuseRun, history: Report): void {
  const { statuses, refusals, faults, counts } = run.ordinary;
  const served = [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${status}: ${count}`);
  const ordinary = [
    `Ordinary users: ${counts.finished} of ${counts.begun} operations finished; replies by status ${served.join(', ')};`,
    `${refusals.length} refused or failed, ${faults.length} wrong chats.`,
  ].join(' ');
  const tables = [formatComparisons(compare(run)), formatCpu(run), formatReplies(run)];
  prove(
    'An abusive user and an abusive service key',
    [ordinary, formatReport(history), ...tables].join('\n\n'),
  );
  if (!SIZE.full) return;
  const seconds = PHASES.map((phase) => run.cpu[phase].seconds).reduce((sum, each) => sum + each, 0);
  const comparisons = compare(run);
  const verdictOn = (mode: AbuseMode) =>
    comparisons.every(({ ratio }) => ratio[mode] <= RATIO_MAX) ? 'met' : 'not met';
  writeReport('abuse', [
    '# An abusive user and an abusive service key in another tenant',
    '',
    `Written by the soak on ${new Date().toISOString().slice(0, 10)}: ${Math.round(seconds / 60)} minutes measured, ${cpus().length} cores, Node ${process.version}.`,
    '',
    ...ABOUT,
    '',
    ordinary,
    '',
    `Every 99th percentile at most doubles: with the user **${verdictOn('user')}**, with the key **${verdictOn('key')}**.`,
    '',
    ...tables.flatMap((table) => [table, '']),
    '```',
    formatReport(history),
    '```',
  ]);
}

const ABOUT = [
  'Three pods, a worker and one Redis serve ordinary users of two tenants at fixed rates (an open loop) over a round-robin',
  'proxy. Phases without abuse alternate with phases in which a user, then a service key, of a third tenant does everything',
  'at once over a bounded number of connections, each kind at a bounded rate. Latencies count from the time at which an',
  'operation was due. The client of the abuser is a process of its own with a low priority and contains the model of its',
  'agent, so that its processor time is counted apart and takes little from the pods. `load` is the ordinary client with the',
  'proxy, the ordinary model and the measurement; `machine` is everything, other programs included.',
];
