import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openChromium } from '../demo/chromium.ts';
import { drawDemo } from './demo-images.ts';
import { drawSlack } from './slack-images.ts';
import { smallPng } from './small-png.ts';
import { drawWidget } from './widget-images.ts';

/*
 * npm run docs:images
 *
 * Draws the pictures of the widget, of the demo and of Slack anew, into docs/images. Installs a Chromium if there is none.
 */
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
  await drawWidget(browser, save);
  await drawDemo(browser, save);
  await drawSlack(browser, save);
} finally {
  await browser.close();
}
