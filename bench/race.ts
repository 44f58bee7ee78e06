import type { Variant } from './peers.ts';
import { type Role, startRole } from './roles.ts';
import { type Finding, median, quantile } from './stats.ts';

const VARIANTS: readonly Variant[] = ['publish', 'raw', 'engine'];
const ROUNDS = 5;
const LOW = { count: 200, perSecond: 400 };
const FULL = { count: 3_000, underWay: 64 };
const STREAMS = 200;

interface Figures {
  readonly p50: number[];
  readonly perSecond: number[];
  readonly cpuEach: number[];
}

/** Settles across two processes: latency one at a time, throughput at full tilt, all variants in turn. */
export async function race(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const waiter = await startRole(redisUrl);
  const settler = await startRole(redisUrl);
  const figures = new Map<Variant, Figures>(
    VARIANTS.map((variant) => [variant, { p50: [], perSecond: [], cpuEach: [] }]),
  );
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [variant, figure] of figures) {
      const low = await once(waiter, settler, variant, LOW.count, { perSecond: LOW.perSecond });
      const full = await once(waiter, settler, variant, FULL.count, { underWay: FULL.underWay });
      progress(
        `race ${round}/${ROUNDS} ${variant}: p50 ${quantile(low.latencies, 0.5)} us, ${Math.round(full.perSecond)}/s`,
      );
      // The first round warms the code up.
      if (round === 0) continue;
      figure.p50.push(quantile(low.latencies, 0.5));
      figure.perSecond.push(full.perSecond);
      figure.cpuEach.push(full.cpuEach);
    }
  }
  await Promise.all([waiter.kill(), settler.kill()]);
  return findings(figures);
}

async function once(
  waiter: Role,
  settler: Role,
  variant: Variant,
  count: number,
  pace: { perSecond: number } | { underWay: number },
) {
  waiter.send({ do: 'open', variant, count, streams: STREAMS });
  const { ids } = await waiter.hear('opened');
  settler.send({ do: 'settle', ids, variant, pace });
  const [settled, collected] = await Promise.all([settler.hear('settled'), waiter.hear('collected')]);
  return {
    latencies: collected.latencies,
    perSecond: (count * 1e6) / (collected.lastAt - settled.startedAt),
    cpuEach: (settled.cpuMicroseconds + collected.cpuMicroseconds) / count,
  };
}

function findings(figures: ReadonlyMap<Variant, Figures>): Finding[] {
  const of = (variant: Variant, figure: keyof Figures) => median(figures.get(variant)?.[figure] ?? []);
  const rows: Finding[] = VARIANTS.map((variant) => ({
    what: `${variant}: settle to waiter, across two processes`,
    measured: `p50 ${of(variant, 'p50')} us, ${Math.round(of(variant, 'perSecond'))}/s, ${of(variant, 'cpuEach').toFixed(0)} us CPU each`,
  }));
  return [
    ...rows,
    {
      what: 'engine p50 over the publish-to-message floor',
      measured: 'ratio',
      ratio: of('engine', 'p50') / of('publish', 'p50'),
      aim: { atMost: 2.6 },
    },
    {
      what: 'engine throughput over the raw one-script prototype',
      measured: 'ratio',
      ratio: of('engine', 'perSecond') / of('raw', 'perSecond'),
      aim: { atLeast: 0.6 },
    },
  ];
}
