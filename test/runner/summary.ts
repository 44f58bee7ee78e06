import type { TreeUse } from './process-tree.ts';
import { failuresIn, notRunIn, type Results, slowestFiles } from './results.ts';
import { ROOT } from './root.ts';

/** One of the things that a run does. */
export interface Outcome {
  readonly name: string;
  readonly code: number;
  readonly seconds: number;
}

export function linesOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(({ name, code, seconds }) => `${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
}

/** What a run cost, in one line. */
export function costLine({ seconds, peakBytes, runQueue }: TreeUse, tookMs: number): string {
  const processor = [...seconds.values()].reduce((sum, each) => sum + each, 0);
  const took = `The run took ${(tookMs / 60_000).toFixed(1)} minutes`;
  if (processor === 0) return `${took}. What it cost was not measured, because this system has no /proc.`;
  return [
    took,
    `${Math.round(processor)} s of processor time`,
    `${(peakBytes / 1e9).toFixed(1)} GB of memory at most`,
    `${runQueue.toFixed(1)} processes that wanted a core on average.`,
  ].join(', ');
}

/** What failed and what was not run, each with its reason, once more at the end: a run is longer than what terminals keep. */
export function endOf(results: Results | undefined): string {
  if (results === undefined) return '0 passed, 0 failed';
  const { numPassedTests, numFailedTests, numPendingTests } = results;
  const failures = failuresIn(results, ROOT).map(({ what, why }) => `${what}\n${indent(why)}\n`);
  const notRun = notRunIn(results, ROOT);
  return [
    `The slowest files:\n${slowestFiles(results, ROOT).join('\n')}\n`,
    ...(notRun.length > 0 ? [`Not run:\n${notRun.map((each) => `  ${each}`).join('\n')}\n`] : []),
    ...failures,
    `${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`,
  ].join('\n');
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
