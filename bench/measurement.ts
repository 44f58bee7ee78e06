/** One line of the report: what was measured, against what, and whether the aim is met. */
export interface Measurement {
  readonly what: string;
  readonly measured: string;
  readonly ratio?: number;
  readonly aim?: { readonly atMost: number } | { readonly atLeast: number };
}

/** The value below which the given share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** Microseconds on the machine's monotonic clock, which all processes share. */
export function microseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Measurements as a table for people, each with its verdict: met, or not. */
export function formatMeasurements(measurements: readonly Measurement[]): string {
  return measurements
    .map(({ what, measured, ratio, aim }) => {
      const shown = ratio === undefined ? '' : `  ${ratio.toFixed(2)}`;
      return `${verdictOf(ratio, aim).padEnd(8)} ${what.padEnd(58)} ${measured}${shown}${formatAim(aim)}`;
    })
    .join('\n');
}

function verdictOf(ratio: number | undefined, aim: Measurement['aim']): string {
  if (aim === undefined || ratio === undefined) return '-';
  const met = 'atMost' in aim ? ratio <= aim.atMost : ratio >= aim.atLeast;
  return met ? 'met' : 'NOT MET';
}

function formatAim(aim: Measurement['aim']): string {
  if (aim === undefined) return '';
  return 'atMost' in aim ? `  (aim: at most ${aim.atMost})` : `  (aim: at least ${aim.atLeast})`;
}
