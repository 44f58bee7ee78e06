import { describe, it } from 'vitest';

/** Reports that a suite cannot run here, and why. It is shown as skipped and never counts as a proof. */
export function suiteNotRun(name: string, why: string): void {
  process.stdout.write(`not run: ${name}: ${why}\n`);
  describe(name, () => {
    it('not run', ({ skip }) => skip(why));
  });
}
