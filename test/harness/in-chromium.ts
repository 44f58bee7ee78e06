import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { describe } from 'vitest';
import { ensureChromium } from '../../demo/chromium.ts';
import { suiteNotRun } from './not-run.ts';
import { paced } from './pace.ts';

/** Options of pages without animations: while one runs, a page takes 10 % of a core for as long as a test waits. */
export const STILL = { reducedMotion: 'reduce' } as const;

/** How long an action on a page may take. */
export const ACTION_MS = paced(30_000);

/** A page in a context of its own, without animations. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.newPage({ ...STILL, ...options });
  page.context().setDefaultTimeout(ACTION_MS);
  return page;
}

/**
 * A suite that needs a real browser: `tests` gets the path of a Chromium, which is installed if there is none. Where
 * none can be had, it says so and why. `blocksPopups`: the suite needs the popup blocker, which the headless shell lacks.
 */
export async function describeInChromium(
  name: string,
  tests: (path: string) => void,
  { blocksPopups = false } = {},
): Promise<void> {
  const print = (line: string) => void process.stdout.write(`${line}\n`);
  const found = await ensureChromium(print, { prefersShell: !blocksPopups });
  if (typeof found === 'string') describe(name, () => tests(found));
  else suiteNotRun(name, found.reason);
}
