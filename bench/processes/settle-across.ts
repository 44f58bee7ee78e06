import type { Pace, Variant } from './messages.ts';
import type { BenchChild } from './start-child.ts';

/** Two processes and what they do: one opens waits, the other settles them. */
export interface Racer {
  readonly waiter: BenchChild;
  readonly settler: BenchChild;
  readonly variant: Variant;
  /** Over how many stream requests the waits of the engine are spread. */
  readonly streams: number;
  /** The continuations run in the settler. */
  readonly continuesInSettler?: boolean;
}

/** Opens `count` waits in one process and settles them from the other. Latencies are in microseconds. */
export async function settleAcross(racer: Racer, count: number, pace: Pace) {
  const { waiter, settler, variant, streams, continuesInSettler = false } = racer;
  waiter.send({ do: 'open', variant, count, streams });
  const { ids } = await waiter.receive('opened');
  settler.send({ do: 'settle', ids, variant, pace });
  const [settled, collected] = await Promise.all([
    settler.receive('settled'),
    (continuesInSettler ? settler : waiter).receive('collected'),
  ]);
  return {
    latencies: collected.latencies,
    perSecond: (count * 1e6) / (collected.lastAt - settled.startedAt),
    cpuEach: (settled.cpuMicroseconds + collected.cpuMicroseconds) / count,
  };
}
