import { describe, it } from 'vitest';

/** Says aloud that a suite cannot run here, and why. It shows as skipped and never passes for a proof. */
export function suiteNotRun(name: string, why: string): void {
  process.stdout.write(`not run: ${name}: ${why}\n`);
  describe(name, () => {
    it('not run', ({ skip }) => skip(why));
  });
}
