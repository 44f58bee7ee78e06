/** What the orchestrator tells a role, and what it hears back. */
export type Order =
  | { readonly do: 'open'; readonly variant: Variant; readonly count: number; readonly streams: number }
  | { readonly do: 'settle'; readonly ids: readonly string[]; readonly variant: Variant; readonly pace: Pace }
  | { readonly do: 'heap'; readonly count: number }
  | { readonly do: 'ask'; readonly count: number; readonly timeoutSeconds: number }
  | { readonly do: 'end' };

export type Told =
  | { readonly told: 'ready' }
  | { readonly told: 'opened'; readonly ids: readonly string[] }
  | { readonly told: 'settled'; readonly startedAt: number; readonly cpuMicroseconds: number }
  | {
      readonly told: 'collected';
      readonly latencies: readonly number[];
      readonly lastAt: number;
      readonly cpuMicroseconds: number;
    }
  | { readonly told: 'heap'; readonly bytesEach: number };

/** publish: PUBLISH to message and nothing else; raw: one settle script and a pod channel; engine: Parley. */
export type Variant = 'publish' | 'raw' | 'engine';

/** low: one after the other, so many a second; full: as fast as it goes with so many under way. */
export type Pace = { readonly perSecond: number } | { readonly underWay: number };

/** Microseconds on the machine's monotonic clock, which all processes share. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
