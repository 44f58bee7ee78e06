import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ensureChromium, launchChromium } from '../../../demo/chromium.ts';
import { freePort } from '../../harness/free-port.ts';
import { openPage } from '../../harness/in-chromium.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { paced } from '../../harness/pace.ts';
import type { Consumer } from '../../harness/packages/consumer.ts';
import { type PageBlock, pageBlocks } from '../../harness/packages/readme.ts';
import { startCommand } from '../../harness/packages/start-command.ts';

const BLOCKS = pageBlocks('docs/getting-started.md');
/** The ports that the page names; other programs of this machine may have them. */
const PORTS = /3000|4000|4100/g;
const TIMEOUT_MS = paced(180_000);

/** Runs the first commands of the page, which install the packages, in an empty folder. */
export async function installAsWritten({ run }: Consumer): Promise<void> {
  const [first] = BLOCKS;
  await run('sh', '-ec', first?.text ?? '');
}

/** Follows the rest of the page in that folder, and chats as it says. */
export async function gettingStarted(installed: () => Consumer): Promise<void> {
  const chromium = await ensureChromium((line) => void process.stdout.write(`${line}\n`), {
    prefersShell: true,
  });
  if (typeof chromium !== 'string') {
    suiteNotRun('the page of the first chat', chromium.reason);
    return;
  }
  it(
    'the page of the first chat leads from an empty folder to an answered question, word by word',
    async () => {
      const { folder, env } = installed();
      const named = [...new Set(BLOCKS.flatMap(({ text }) => text.match(PORTS) ?? []))];
      const free = await Promise.all(named.map(() => freePort()));
      // At once, because a free port may hold the digits of one that the page names.
      const onFreePorts = (text: string) =>
        text.replaceAll(PORTS, (port) => String(free[named.indexOf(port)]));
      const follow = async ({ language, text, file }: PageBlock, said: PageBlock | undefined) => {
        if (file !== undefined) return writeFile(join(folder, file), onFreePorts(text));
        if (language !== 'sh') return;
        const command = startCommand('sh', ['-ec', onFreePorts(text)], { cwd: folder, env });
        onTestFinished(command.stop);
        // What the page says that the command prints.
        expect(said?.language).toBe('text');
        await command.untilSaid(new RegExp(onFreePorts(said?.text ?? '').trim()));
      };
      for (const [at, block] of BLOCKS.entries()) if (at > 0) await follow(block, BLOCKS[at + 1]);

      const browser = await launchChromium(chromium);
      onTestFinished(() => browser.close());
      const page = await openPage(browser);
      await page.goto(onFreePorts('http://localhost:4000'));
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('Which colour?').waitFor();
      await page.locator('elicitation-card').getByRole('textbox').fill('blue');
      await page.keyboard.press('Enter');
      await page.getByText(/I heard: .*blue/).waitFor();
    },
    TIMEOUT_MS,
  );
}
