import { describe, it, type TestContext } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test was not run: `npm test` lists it at its end. */
    notRun?: string;
  }
}

/** Ends the test of `context`, which cannot run here, and says why. It never counts as a proof. */
export function testNotRun({ task, skip }: TestContext, why: string): never {
  task.meta.notRun = why;
  return skip(why);
}

/** Reports that a suite cannot run here, and why. It is shown as skipped and never counts as a proof. */
export function suiteNotRun(name: string, why: string): void {
  describe(name, () => {
    it('not run', (context) => testNotRun(context, why));
  });
}
