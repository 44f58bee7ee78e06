/** The value below which the given share of the numbers lies. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

/** One line of the report: what was measured, against what, and whether the aim is met. */
export interface Finding {
  readonly what: string;
  readonly measured: string;
  readonly ratio?: number;
  readonly aim?: { readonly atMost: number } | { readonly atLeast: number };
}

/** Findings as a table for people: met, or not. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings
    .map(({ what, measured, ratio, aim }) => {
      const shown = ratio === undefined ? '' : `  ${ratio.toFixed(2)}`;
      return `${verdictOf(ratio, aim).padEnd(8)} ${what.padEnd(58)} ${measured}${shown}${aimOf(aim)}`;
    })
    .join('\n');
}

function verdictOf(ratio: number | undefined, aim: Finding['aim']): string {
  if (aim === undefined || ratio === undefined) return '-';
  const met = 'atMost' in aim ? ratio <= aim.atMost : ratio >= aim.atLeast;
  return met ? 'met' : 'NOT MET';
}

function aimOf(aim: Finding['aim']): string {
  if (aim === undefined) return '';
  return 'atMost' in aim ? `  (aim: at most ${aim.atMost})` : `  (aim: at least ${aim.atLeast})`;
}
