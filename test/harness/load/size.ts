import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isFullSize } from '../proof-size.ts';

/** How long a soak of an abusive user lasts. */
const abuseMinutes = Number(process.env.PARLEY_ABUSE_MINUTES ?? 60);

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Sizes of the proofs: small for the daily run, full for a soak. */
export const SIZE = isFullSize
  ? {
      full: isFullSize,
      elicitations: 10_000,
      settles: 100_000,
      failover: 1_000,
      changes: 10_000,
      patience: 6,
      abuseMinutes,
    }
  : {
      full: isFullSize,
      elicitations: 60,
      settles: 200,
      failover: 40,
      changes: 80,
      patience: 1,
      abuseMinutes,
    };

/** Adds a section to the report of the run; a soak writes the sections to its report file. */
export function prove(title: string, text: string): void {
  const folder = `${ROOT}.tmp`;
  mkdirSync(folder, { recursive: true });
  appendFileSync(`${folder}/proofs.md`, `## ${title}\n\n\`\`\`\n${text}\n\`\`\`\n\n`);
}

/** Writes a report of its own to docs/reports. */
export function writeReport(name: string, lines: readonly string[]): void {
  writeFileSync(`${ROOT}docs/reports/${name}.md`, `${lines.join('\n')}\n`);
}
