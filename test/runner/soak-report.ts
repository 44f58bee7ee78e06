import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Results } from './results.ts';
import { ROOT } from './root.ts';
import { linesOf, type Outcome } from './summary.ts';

/** What the proofs themselves had to tell: each appends a Markdown section to this file. */
const PROOFS = join(ROOT, '.tmp/proofs.md');

export function forgetProofs(): void {
  rmSync(PROOFS, { force: true });
}

/** Writes docs/reports/soak.md. */
export function writeSoakReport(
  outcomes: readonly Outcome[],
  server: string,
  tookMs: number,
  results: Results | undefined,
): void {
  mkdirSync(join(ROOT, 'docs/reports'), { recursive: true });
  const lines = [
    '# Soak report',
    '',
    `Written by \`npm run soak\` on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores, Node ${process.version}, ${server}; ${Math.round(tookMs / 60_000)} minutes.`,
    '',
    `${results?.numPassedTests ?? 0} tests passed, ${results?.numFailedTests ?? 0} failed, ${results?.numPendingTests ?? 0} not run.`,
    '',
    ...linesOf(outcomes).map((line) => `- ${line}`),
    '',
    ...readProofs(),
    '',
  ];
  writeFileSync(join(ROOT, 'docs/reports/soak.md'), lines.join('\n'));
}

function readProofs(): string[] {
  try {
    return [readFileSync(PROOFS, 'utf8')];
  } catch {
    return [];
  }
}
