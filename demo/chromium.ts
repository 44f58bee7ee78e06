/**
 * Finds, installs and starts a Chromium for the demo, the pictures of the docs and browser tests. What is done in the browser
 * is in the callers.
 */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { aptInstall, onPath } from '../test/harness/on-path.ts';

const run = promisify(execFile);
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** The same engine without the parts of a window, such as the popup blocker. It takes half the processor time. */
const HEADLESS_SHELL = 'chromium-headless-shell';
const INSTALL_MS = 300_000;

/**
 * If this option is given twice, Chromium uses the last one. So this list also contains what Playwright disables, except the
 * partitioning of storage by site, which people's browsers have.
 */
const DISABLED_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'Translate',
  // Chromium starts these processes for each new context: one for its address bar, and one for a page that may follow. Nobody
  // sees the address bar, and together they cost as much processor time as the pages themselves.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
];

/** The path of a Chromium: one on the PATH, or one that Playwright has installed. */
function findChromium(): string | undefined {
  const named = BROWSERS.map((name) => onPath(name)).find((path) => path !== undefined);
  if (named !== undefined) return named;
  const own = chromium.executablePath();
  return existsSync(own) ? own : undefined;
}

/**
 * The path of a Chromium, which is installed if there is none; or the reason why none is available. `prefersShell`: the
 * headless shell is used if it is installed.
 */
export async function ensureChromium(
  print: (text: string) => void,
  { prefersShell = false } = {},
): Promise<string | { readonly reason: string }> {
  const shell = prefersShell ? onPath(HEADLESS_SHELL) : undefined;
  return shell ?? findChromium() ?? (await installChromium(print));
}

/** A running Chromium, which is installed if there is none; or the reason why none is available. */
export async function openChromium(
  print: (text: string) => void,
): Promise<{ readonly browser: Browser; readonly path: string } | { readonly reason: string }> {
  const found = await ensureChromium(print);
  if (typeof found !== 'string') return found;
  try {
    return { browser: await launchChromium(found), path: found };
  } catch (error) {
    return { reason: `${found} does not start: ${firstLine(error)}` };
  }
}

async function installChromium(print: (text: string) => void): Promise<string | { readonly reason: string }> {
  print('No Chromium: installing one (npx playwright-core install chromium)…');
  const first = await installWithPlaywright();
  if (first === undefined) return findChromium() ?? { reason: 'playwright installed none' };
  const second = await aptInstall('chromium');
  return findChromium() ?? { reason: [first, second].filter(Boolean).join('; ') };
}

/** Starts Chromium without a window, and with features of people's browsers that Playwright would disable. */
export function launchChromium(path: string, args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    ignoreDefaultArgs: ['--disable-popup-blocking'],
    args: [
      `--disable-features=${DISABLED_FEATURES.join()}`,
      // Chromium cannot use its sandbox as root, the usual user in a container.
      ...(isRoot() ? ['--no-sandbox'] : []),
      ...args,
    ],
  });
}

async function installWithPlaywright(): Promise<string | undefined> {
  const manifest = createRequire(import.meta.url).resolve('playwright-core/package.json');
  const cli = join(dirname(manifest), 'cli.js');
  // Its libraries come from system packages, which only root can install.
  const libraries = isRoot() ? ['--with-deps'] : [];
  try {
    await run(process.execPath, [cli, 'install', ...libraries, 'chromium'], { timeout: INSTALL_MS });
    return undefined;
  } catch (error) {
    return `playwright could not install it: ${firstLine(error)}`;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0]?.slice(0, 200) ?? '';
}
