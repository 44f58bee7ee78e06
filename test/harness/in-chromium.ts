import { describe } from 'vitest';
import { ensureChromium } from '../../infra/demo/chromium.ts';
import { suiteNotRun } from './not-run.ts';

/**
 * A suite that needs a real browser: `tests` gets the path of a Chromium, which is installed if there is none. Where
 * none can be had, it says so and why.
 */
export async function describeInChromium(name: string, tests: (path: string) => void): Promise<void> {
  const found = await ensureChromium((line) => process.stdout.write(`${line}\n`));
  if (typeof found === 'string') describe(name, () => tests(found));
  else suiteNotRun(name, found.reason);
}
