import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../test/harness/free-port.ts';
import { killWithParent } from '../../test/harness/processes/child-guard.ts';
import { findInspector, installStacks } from '../../test/harness/stacks/packages.ts';
import { startWorld } from '../demo/world.ts';

const START_MS = 30_000;
const SIZE = { width: 1280, height: 740 };

/** Draws MCP Inspector while an agent of the demo asks through it. `save` gets a name without its ending, and the page. */
export async function drawInspector(
  browser: Browser,
  save: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  await installStacks((text) => process.stdout.write(`${text}\n`));
  const world = await startWorld({ print: () => undefined });
  const folder = await mkdtemp(join(tmpdir(), 'parley-inspector-'));
  try {
    const config = join(folder, 'servers.json');
    await writeFile(config, serversFile(`${world.service.url}/run/v1/mcp`, await world.tokenOf('alice')));
    const inspector = await startInspector(config, folder);
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
      inspector.child.kill();
    }
  } finally {
    await world.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Connects, calls the support agent and waits for the form that its delegate asks with. */
async function askInForm(page: Page): Promise<void> {
  await page.getByRole('switch').click({ force: true });
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.getByText('Tools', { exact: true }).click();
  await page.getByText('Acme support agent').first().click();
  await page.getByRole('textbox', { name: 'message' }).fill('Ask the release agent to "ask me in a form"');
  await page.getByRole('button', { name: 'Execute Tool' }).click();
  await page.getByText('Where and when should I release?').waitFor();
  // The form fades in; the sign that the call runs moves on.
  await page.waitForFunction(
    'document.getAnimations().every(({ effect }) => effect.getTiming().iterations === Infinity)',
  );
}

/** The format of MCP clients' configuration files. */
function serversFile(url: string, token: string): string {
  const parley = { type: 'streamable-http', url, headers: { Authorization: `Bearer ${token}` } };
  return JSON.stringify({ mcpServers: { Parley: parley } });
}

async function startInspector(
  config: string,
  home: string,
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const command = findInspector();
  if ('notRun' in command) throw new Error(command.notRun);
  const [client, sandbox] = await Promise.all([freePort(), freePort()]);
  const child = spawn(command.node, [command.script, '--web', '--config', config], {
    cwd: home,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CLIENT_PORT: String(client),
      MCP_SANDBOX_PORT: String(sandbox),
      MCP_AUTO_OPEN_ENABLED: 'false',
      MCP_INSPECTOR_SECRET_STORE: 'memory',
      MCP_STORAGE_DIR: home,
    },
  });
  killWithParent(child);
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    const timer = setTimeout(() => reject(new Error(`MCP Inspector does not start: ${output}`)), START_MS);
    child.stdout.on('data', (data: Buffer) => {
      output += String(data);
      const [found] = /http:\S+MCP_INSPECTOR_API_TOKEN=\S+/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  return { url, child };
}
