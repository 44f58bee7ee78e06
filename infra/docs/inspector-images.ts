import type { Browser, Page } from 'playwright-core';
import { startWorld } from '../../demo/world.ts';
import { startInspectorPage } from '../../test/harness/stacks/inspector.ts';
import { installStacks } from '../../test/harness/stacks/packages.ts';

const SIZE = { width: 1280, height: 740 };

/** Draws MCP Inspector while an agent of the demo asks through it. `save` gets a name without extension, and the page. */
export async function drawInspector(
  browser: Browser,
  save: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  await installStacks((text) => process.stdout.write(`${text}\n`));
  const world = await startWorld({ print: () => undefined });
  try {
    const token = await world.tokenOf('alice');
    const inspector = await startInspectorPage({ url: `${world.service.url}/run/v1/mcp`, token });
    try {
      const page = await browser.newPage({ viewport: SIZE, reducedMotion: 'reduce' });
      await page.goto(inspector.url);
      await askInForm(page);
      await save('mcp-inspector', page);
      await page.getByRole('textbox', { name: 'Environment' }).click();
      await page.getByRole('option', { name: 'staging' }).click();
      await page.getByRole('button', { name: 'Submit' }).click();
      await page.getByText('You answered: environment staging').waitFor();
      await page.close();
    } finally {
      await inspector.stop();
    }
  } finally {
    await world.close();
  }
}

/** Connects, calls the support agent, and waits for the form with which its delegate asks. */
async function askInForm(page: Page): Promise<void> {
  await page.getByRole('switch').click({ force: true });
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.getByText('Tools', { exact: true }).click();
  await page.getByText('Acme support agent').first().click();
  await page.getByRole('textbox', { name: 'message' }).fill('Ask the release agent to "ask me in a form"');
  await page.getByRole('button', { name: 'Execute Tool' }).click();
  await page.getByText('Where and when should I release?').waitFor();
  // The form fades in, and the sign of the running call moves on.
  await page.waitForFunction(
    'document.getAnimations().every(({ effect }) => effect.getTiming().iterations === Infinity)',
  );
}
