import { quantile } from '../../../../bench/measurement.ts';

/** What runs while a latency is measured: nobody's abuse, that of a user, or that of a service key. */
export const PHASES = ['baseline', 'user', 'key'] as const;
export type Phase = (typeof PHASES)[number];

export interface Samples {
  /** The phase from now on; undefined between two phases, when nothing is kept. */
  phase: Phase | undefined;
  /** Runs an operation and keeps its latency under the phase in which it was due. */
  time<T>(operation: string, run: () => Promise<T>, dueAt?: number): Promise<T>;
  /** Starts to measure something whose end another call sees; the returned function ends it. */
  start(operation: string, dueAt?: number): () => void;
  /** Latencies in ms of one operation in one phase. */
  of(operation: string, phase: Phase): readonly number[];
  operations(): string[];
}

/** Latencies by operation and phase. */
export function createSamples(): Samples {
  const kept = new Map<string, Map<Phase, number[]>>();
  const samples: Samples = {
    phase: undefined,
    start(operation, dueAt = performance.now()) {
      const { phase } = samples;
      let isOpen = phase !== undefined;
      return () => {
        if (!isOpen || phase === undefined) return;
        isOpen = false;
        const byPhase = kept.get(operation) ?? new Map<Phase, number[]>();
        kept.set(operation, byPhase);
        const latencies = byPhase.get(phase) ?? [];
        byPhase.set(phase, latencies);
        latencies.push(performance.now() - dueAt);
      };
    },
    async time(operation, run, dueAt) {
      const end = samples.start(operation, dueAt);
      const result = await run();
      end();
      return result;
    },
    of: (operation, phase) => kept.get(operation)?.get(phase) ?? [],
    operations: () => [...kept.keys()].sort(),
  };
  return samples;
}

/** The latency in ms below which 99 of 100 lie. */
export function p99(latencies: readonly number[]): number {
  return quantile(latencies, 0.99);
}
