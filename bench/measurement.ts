/** One line of the report: what was measured, against what, and whether the aim is met. */
export interface Measurement {
  readonly what: string;
  readonly measured: string;
  /** One of each round; the median is judged. */
  readonly ratios?: readonly number[];
  readonly aim?: { readonly atMost: number } | { readonly atLeast: number };
}

/** One round's figures over another's, round by round. */
export function ratiosOf(over: readonly number[], under: readonly number[]): number[] {
  return over.map((figure, round) => figure / (under[round] ?? Number.NaN));
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
    .map(({ what, measured, ratios, aim }) => {
      const texts = [measured, formatRatios(ratios), formatAim(aim)].filter(Boolean);
      return `${verdictOf(ratios, aim).padEnd(8)} ${what.padEnd(66)} ${texts.join('  ')}`;
    })
    .join('\n');
}

function verdictOf(ratios: Measurement['ratios'], aim: Measurement['aim']): string {
  if (aim === undefined || ratios === undefined) return '-';
  const ratio = median(ratios);
  const met = 'atMost' in aim ? ratio <= aim.atMost : ratio >= aim.atLeast;
  return met ? 'met' : 'NOT MET';
}

/** The median, and from which to which the rounds lie. */
function formatRatios(ratios: Measurement['ratios']): string {
  if (ratios === undefined) return '';
  const middle = median(ratios).toFixed(2);
  if (ratios.length < 2) return middle;
  return `${middle} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, ${ratios.length} rounds)`;
}

function formatAim(aim: Measurement['aim']): string {
  if (aim === undefined) return '';
  return 'atMost' in aim ? `aim: at most ${aim.atMost}` : `aim: at least ${aim.atLeast}`;
}
