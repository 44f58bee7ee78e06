import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openChromium } from '../../demo/chromium.ts';
import { drawConsole } from './console-images.ts';
import { drawDemo } from './demo-images.ts';
import { drawInspector } from './inspector-images.ts';
import { drawSlack } from './slack-images.ts';
import { smallPng } from './small-png.ts';
import { drawWidget } from './widget-images.ts';

/*
 * npm run docs:images
 * npm run docs:images -- inspector
 *
 * Draws the pictures of the widget, the demo, the console, Slack and MCP Inspector again, or only the named ones, into
 * docs/images. Installs a Chromium if there is none.
 */
const DRAWINGS = {
  widget: drawWidget,
  demo: drawDemo,
  console: drawConsole,
  slack: drawSlack,
  inspector: drawInspector,
};
const folder = new URL('../../docs/images/', import.meta.url);
const BYTES_MAX = 150_000;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const opened = await openChromium(print);
if ('reason' in opened) throw new Error(opened.reason);
const { browser } = opened;
const decoder = await browser.newPage();

async function save(name: string, page: Page): Promise<void> {
  const picture = await smallPng(decoder, await page.screenshot());
  if (picture.length > BYTES_MAX) throw new Error(`${name} is ${picture.length} bytes: show less`);
  await writeFile(fileURLToPath(new URL(`${name}.png`, folder)), picture);
  print(`${name}.png ${picture.length}`);
}

try {
  const named = process.argv.slice(2);
  for (const [name, draw] of Object.entries(DRAWINGS))
    if (named.length === 0 || named.includes(name)) await draw(browser, save);
} finally {
  await browser.close();
}
