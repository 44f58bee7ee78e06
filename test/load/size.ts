import { appendFileSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const full = process.env.PARLEY_PROOF_SIZE === 'full';

/** Sizes of the proofs: small for the daily run, full for a soak. */
export const SIZE = full
  ? { full, elicitations: 10_000, settles: 100_000, failover: 1_000, patience: 6 }
  : { full, elicitations: 400, settles: 4_000, failover: 200, patience: 1 };

/** Adds a section to the report of the run; a soak writes the sections to its report file. */
export function prove(title: string, text: string): void {
  const folder = fileURLToPath(new URL('../../.tmp', import.meta.url));
  mkdirSync(folder, { recursive: true });
  appendFileSync(`${folder}/proofs.md`, `## ${title}\n\n\`\`\`\n${text}\n\`\`\`\n\n`);
}
