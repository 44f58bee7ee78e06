import type { Bench } from '../bench.ts';
import { type Measurement, median, quantile, ratiosOf } from '../measurement.ts';
import type { Variant } from '../processes/messages.ts';
import { settleAcross } from '../processes/settle-across.ts';
import { startChild } from '../processes/start-child.ts';

const VARIANTS: readonly Variant[] = ['publish', 'raw', 'validated', 'engine', 'shown', 'straight'];
const ROUNDS = 5;
const LOW = { count: 200, perSecond: 400 };
const FULL = { count: 3_000, underWay: 64 };
const STREAMS = 200;

interface Figures {
  readonly p50: number[];
  readonly perSecond: number[];
  readonly cpuEach: number[];
}

/** Settles across two processes: latency one at a time, throughput at full load, all variants in turn. */
export async function race({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const waiter = await startChild(redisUrl);
  const settler = await startChild(redisUrl);
  const figures = new Map<Variant, Figures>(
    VARIANTS.map((variant) => [variant, { p50: [], perSecond: [], cpuEach: [] }]),
  );
  const rounds = scaled(ROUNDS, 1);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [variant, figure] of figures) {
      const racer = { waiter, settler, variant, streams: STREAMS };
      const low = await settleAcross(racer, scaled(LOW.count, 10), { perSecond: LOW.perSecond });
      const full = await settleAcross(racer, scaled(FULL.count, 20), { underWay: FULL.underWay });
      progress(
        `race ${round}/${rounds} ${variant}: p50 ${quantile(low.latencies, 0.5)} us, ${Math.round(full.perSecond)}/s`,
      );
      // The first round warms the code up.
      if (round === 0) continue;
      figure.p50.push(quantile(low.latencies, 0.5));
      figure.perSecond.push(full.perSecond);
      figure.cpuEach.push(full.cpuEach);
    }
  }
  await Promise.all([waiter.kill(), settler.kill()]);
  return report(figures);
}

function report(figures: ReadonlyMap<Variant, Figures>): Measurement[] {
  const medianOf = (variant: Variant, figure: keyof Figures) => median(figures.get(variant)?.[figure] ?? []);
  const over = (engine: 'engine' | 'shown' | 'straight', variant: Variant, figure: keyof Figures) =>
    ratiosOf(figures.get(engine)?.[figure] ?? [], figures.get(variant)?.[figure] ?? []);
  const rows: Measurement[] = VARIANTS.map((variant) => ({
    what: `${variant}: settle to waiter, across two processes`,
    measured: `p50 ${medianOf(variant, 'p50')} us, ${Math.round(medianOf(variant, 'perSecond'))}/s, ${medianOf(variant, 'cpuEach').toFixed(0)} us CPU each`,
  }));
  return [
    ...rows,
    {
      what: 'engine p50 over publish, the answering process has never seen the question',
      measured: 'ratio',
      ratios: over('engine', 'publish', 'p50'),
      aim: { atMost: 2.4 },
    },
    {
      what: 'the same where it has shown the question',
      measured: 'ratio',
      ratios: over('shown', 'publish', 'p50'),
      aim: { atMost: 1.8 },
    },
    {
      what: 'its floor: the commands of the commit without its rules, over publish',
      measured: 'ratio',
      ratios: over('straight', 'publish', 'p50'),
    },
    {
      what: 'engine throughput over raw read, validate, settle; never seen',
      measured: 'ratio',
      ratios: over('engine', 'validated', 'perSecond'),
      aim: { atLeast: 0.55 },
    },
    {
      what: 'the same where the question was shown',
      measured: 'ratio',
      ratios: over('shown', 'validated', 'perSecond'),
      aim: { atLeast: 0.7 },
    },
    {
      what: 'its floor: the commands of the commit without its rules',
      measured: 'ratio',
      ratios: over('straight', 'validated', 'perSecond'),
    },
    {
      what: 'engine throughput over the raw one-script prototype, never seen',
      measured: 'ratio',
      ratios: over('engine', 'raw', 'perSecond'),
      aim: { atLeast: 0.2 },
    },
  ];
}
