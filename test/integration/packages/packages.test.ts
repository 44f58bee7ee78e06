/** The packages as their users get them: published to a registry on this machine, and installed from it in empty folders. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { INSTALLED_MB_MAX } from '../../../infra/release/budgets.ts';
import { browserBytes, entriesOf, isForBrowsers } from '../../../infra/release/entries.ts';
import { installedSize } from '../../../infra/release/installed.ts';
import {
  faultsOfBytes,
  faultsOfPacked,
  lintPacked,
  lintTypes,
  weighedEntries,
} from '../../../infra/release/judge.ts';
import {
  type PackedPackage,
  type PublishedManifest,
  ROOT,
  readManifests,
  run,
} from '../../../infra/release/packages.ts';
import { hasTools, NODES, nodePath } from '../../../infra/release/tools.ts';
import { createExamples, linkPackage } from '../../harness/examples/install.ts';
import { freePort } from '../../harness/free-port.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { type Consumer, installIn, type Manager, openConsumer } from '../../harness/packages/consumer.ts';
import { binOf, startDev } from '../../harness/packages/dev.ts';
import { packCopy } from '../../harness/packages/pack-copy.ts';
import { readmeExample, readmePage } from '../../harness/packages/readme.ts';
import { type LocalRegistry, startRegistry } from '../../harness/packages/registry.ts';
import { startCommand } from '../../harness/packages/start-command.ts';
import { twoCommands } from '../cli/two-commands.ts';
import { examples } from './examples.ts';
import { examplesOfAgents } from './examples-of-agents.ts';
import { gettingStarted, installAsWritten } from './getting-started.ts';

const MODULES = join(ROOT, 'node_modules');
const TSC = join(MODULES, 'typescript/bin/tsc');
const isFull = process.env.PARLEY_PROOF_SIZE === 'full';
const LIBRARIES = ['@parley/core', '@parley/sdk', '@parley/widget'];

if (await hasTools({ nodes: isFull })) describe('the packages', suite);
else
  suiteNotRun(
    'the packages',
    `their registry is not installed; \`npm ${isFull ? 'run soak' : 'test'}\` installs it`,
  );

async function suite(): Promise<void> {
  let folder: string;
  let packed: readonly PackedPackage[];
  let manifests: readonly PublishedManifest[];
  let registry: LocalRegistry;
  /** Has the packages that programs import. */
  let library: Consumer;
  /** Has the command, and the widget: what docs/getting-started.md installs. */
  let command: Consumer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-packages-'));
    manifests = await readManifests(ROOT);
    packed = await packCopy(folder);
    registry = await startRegistry(folder, packed);
    command = await openConsumer(join(folder, 'command'), registry.url);
    await installAsWritten(command);
    library = await installIn({
      folder: join(folder, 'library'),
      registry: registry.url,
      packages: LIBRARIES,
      like: command,
    });
  });
  afterAll(async () => {
    await registry?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const entriesForNode = () =>
    manifests
      .flatMap((manifest, at) => entriesOf(manifest, packed[at] as PackedPackage))
      .filter((entry) => /^@parley\/(?:core|sdk)/.test(entry));

  it('hold what their users need, and no more', async () => {
    expect(faultsOfPacked(packed, manifests)).toEqual([]);
    expect(await lintPacked(packed)).toEqual([]);
  });

  it.runIf(isFull)('have types that resolve for Node and for bundlers', async () => {
    expect(await lintTypes(packed)).toEqual([]);
  });

  it('are as small as they may be, installed', async () => {
    const megabytes = async ({ folder: where }: Consumer) => (await installedSize(where)).megabytes;
    expect(await megabytes(command)).toBeLessThan(INSTALLED_MB_MAX['@parley/cli'] ?? 0);
    expect(await megabytes(library)).toBeLessThan(INSTALLED_MB_MAX['@parley/widget'] ?? 0);
  });

  it('run in a browser, at the size that they may have', async () => {
    const entries = manifests.flatMap((manifest, at) =>
      isForBrowsers(manifest.name) ? weighedEntries(manifest, packed[at] as PackedPackage) : [],
    );
    expect(faultsOfBytes(await browserBytes(library.folder, entries))).toEqual([]);
  });

  it('Node imports every entry point', async () => {
    await importAll(library, entriesForNode());
  });

  it.each([
    ['nodenext', 'ai'],
    ['bundler', 'ai7'],
  ])('TypeScript checks a program as %s, with %s', async (resolution, ai) => {
    for (const name of ['react', '@types/react', 'csstype']) await linkPackage(library, name, name);
    await linkPackage(library, 'ai', ai);
    // npm reports a peer that is out of range.
    const dependencies = { '@parley/sdk': '*', ai: '*' };
    await writeFile(join(library.folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
    await library.run('npm', 'ls', 'ai');
    const entries = manifests.flatMap((manifest, at) =>
      isForBrowsers(manifest.name) ? entriesOf(manifest, packed[at] as PackedPackage) : [],
    );
    const all = entries.map((entry, at) => `import * as e${at} from '${entry}'; void e${at};`).join('\n');
    await writeFile(join(library.folder, 'all.ts'), all);
    await writeFile(join(library.folder, 'right.ts'), PROGRAM);
    await writeFile(join(library.folder, 'wrong.ts'), PROGRAM.replace(/boolean|string/g, 'number'));
    const module = resolution === 'bundler' ? 'esnext' : resolution;
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', module];
    const types = [
      '--moduleResolution',
      resolution,
      '--types',
      'node',
      '--typeRoots',
      join(MODULES, '@types'),
    ];
    const checking = library.run(
      process.execPath,
      TSC,
      ...options,
      ...types,
      'all.ts',
      'right.ts',
      'wrong.ts',
    );
    const output = String(await checking.catch((error: unknown) => error));
    expect(output.split('\n').filter((line) => line.includes('error TS'))).toEqual([
      expect.stringMatching(/^wrong\.ts\(.*Type '.*<string>' is not assignable to type '.*<number>'/),
      expect.stringMatching(/^wrong\.ts\(.*Type 'boolean' is not assignable to type 'number'/),
      expect.stringMatching(/^wrong\.ts\(.*Type 'string' is not assignable to type 'number'/),
    ]);
  });

  it('the examples of the READMEs do what they say', async () => {
    await writeFile(join(library.folder, 'check.mjs'), readmeExample('clients/core/README.md', 'check.mjs'));
    expect(await library.run('node', 'check.mjs')).toContain('at most 8');
    await build({
      stdin: { contents: readmePage('clients/widget/README.md'), resolveDir: library.folder },
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'silent',
    });

    const dev = await startDev(command);
    onTestFinished(dev.stop);
    await writeFile(join(library.folder, 'ask.mjs'), readmeExample('clients/sdk/README.md', 'ask.mjs'));
    const env = { ...library.env, ...dev.settings };
    const asking = run('node', ['ask.mjs'], { cwd: library.folder, env });
    await dev.untilSaid(/Question: Which colour\?/);
    await writeFile(join(command.folder, 'answer.json'), '{"colour": "blue"}');
    await command.run(binOf(command), 'answer', '--action', 'accept', '--content', 'answer.json');
    expect(await asking).toBe("accepted { colour: 'blue' }\n");

    await writeFile(join(command.folder, 'colour.sh'), readmeExample('clients/cli/README.md', 'colour.sh'));
    expect(await command.run('sh', 'colour.sh')).toContain('accepted');
  });

  it('the server runs on its own', async () => {
    await writeFile(join(command.folder, 'serve.sh'), readmeExample('services/server/README.md', 'serve.sh'));
    const port = await freePort();
    const env = { ...command.env, PORT: String(port), PARLEY_METRICS_PORT: '0' };
    const server = startCommand('sh', ['serve.sh'], { cwd: command.folder, env });
    onTestFinished(server.stop);
    await server.untilSaid(/"listening":true/);
    expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
    await expect(command.run('node_modules/.bin/parley-server', 'nothing')).rejects.toThrow(
      'usage: parley-server',
    );
  });

  twoCommands(() => join(command.folder, 'node_modules'));
  await gettingStarted(() => command);

  const forExamples = () => ({
    install: createExamples({ folder, registry: registry.url, library }),
    command,
  });
  examples(forExamples);
  examplesOfAgents(forExamples);

  const managers: readonly Manager[] = ['npm', 'pnpm', 'yarn'];
  const matrix = managers.flatMap((manager) => NODES.map((node) => ({ manager, node })));
  it.runIf(isFull).each(matrix)('$manager installs them on Node $node', async ({ manager, node }) => {
    const consumer = await installIn({
      folder: join(folder, `${manager}-${node}`),
      registry: registry.url,
      packages: [...LIBRARIES, '@parley/cli'],
      manager,
      node: nodePath(node),
    });
    expect(await consumer.run('node', '--version')).toMatch(new RegExp(`^v${node}\\.`));
    await importAll(consumer, entriesForNode());
    expect(await consumer.run(binOf(consumer), '--version')).toBe(`${manifests[0]?.version}\n`);
    onTestFinished((await startDev(consumer)).stop);
  });
}

/** Uses the parts that only types tell apart. With `number` for each of its types it is wrong three times. */
const PROGRAM = `
import { createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import { createParleyProvider } from '@parley/sdk/ai-provider';
import { type ChatTransport, streamText, type UIMessage } from 'ai';
const options = { baseUrl: 'http://127.0.0.1:9', token: 'a-token' };
const transport = createChatTransport(options);
export const chat: ChatTransport<UIMessage> = transport;
const model = createParleyProvider(options)('helper');
export const { text } = streamText({ model, prompt: 'Hello' });
export const said: PromiseLike<string> = text;
export const stopped: boolean = await transport.stopTurn('c1');
export const status: string = (await createClient(options).get('el_1')).status;`;

async function importAll(consumer: Consumer, entries: readonly string[]): Promise<void> {
  expect(entries).toContain('@parley/sdk/chat');
  const script = entries.map((entry) => `await import('${entry}');`).join('\n');
  await writeFile(join(consumer.folder, 'import-all.mjs'), script);
  await consumer.run('node', 'import-all.mjs');
}
