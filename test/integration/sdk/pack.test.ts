/** The SDK and the command as their users get them: tarballs, unpacked outside of this repository. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { paced } from '../../harness/pace.ts';
import { twoCommands, unpack } from '../cli/two-commands.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const MODULES = join(REPOSITORY, 'node_modules');
const TSC = join(MODULES, 'typescript/bin/tsc');
/** Packed first: its build also builds the packages that it references. */
const SDK = 'clients/sdk';
const REFERENCED = ['clients/core'];
const OTHERS = [...REFERENCED, 'shared', 'services/api', 'services/worker', 'services/server', 'clients/cli'];
const PACKAGES = [SDK, ...OTHERS];
/** Versions that the command does not share with other packages. */
const CLI_MODULES = 'clients/cli/node_modules';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
/** A copy of the sources, so that the builds of this test affect no other test. */
let sources: string;
let consumer: string;
/** In the order of `PACKAGES`. */
let packed: readonly Packed[];
/** What packing the SDK alone built of the packages that it references. */
let referencedBuilds: readonly (readonly string[])[];

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  // With a cache of its own, npm finds nothing that this machine happens to have fetched.
  const env: NodeJS.ProcessEnv = { ...process.env, npm_config_cache: join(folder, 'npm-cache') };
  delete env.NODE_OPTIONS;
  const { stdout } = await promisify(execFile)(command, args, { cwd, env, timeout: paced(250_000) }).catch(
    ({ message, stdout }) => {
      throw new Error(`${message}\n${stdout}`);
    },
  );
  return stdout;
}

/** Packs packages of the copied sources into tarballs in `folder`. */
async function pack(paths: readonly string[]): Promise<readonly Packed[]> {
  const args = ['pack', ...paths.map((path) => join(sources, path)), '--pack-destination', folder, '--json'];
  const stdout = await run('npm', args, sources);
  // The output of the builds comes first.
  return JSON.parse(stdout.slice(stdout.search(/^\[$/m)));
}

/** Packs the sources, which have no build output: first the SDK alone, then the others. */
async function packSources(): Promise<void> {
  await copySources();
  const sdk = await pack([SDK]);
  referencedBuilds = await Promise.all(
    REFERENCED.map((path) => readdir(join(sources, path, 'dist'), { recursive: true })),
  );
  packed = [...sdk, ...(await pack(OTHERS))];
}

/** The packages of others that the SDK needs, with what those need, by what their package files say. */
async function neededBySdk(): Promise<readonly string[]> {
  const needed = new Set<string>();
  const folders = [SDK, ...REFERENCED].map((path) => join(REPOSITORY, path));
  // Grows while it is read.
  for (const path of folders) {
    const { dependencies = {} } = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith('@parley/') || needed.has(name)) continue;
      needed.add(name);
      folders.push(join(MODULES, name));
    }
  }
  return [...needed];
}

async function copySources(): Promise<void> {
  const isSource = (path: string) => !/(?:^|\/)(?:dist|node_modules)$/.test(path.slice(REPOSITORY.length));
  for (const path of [...PACKAGES, 'package.json', 'tsconfig.base.json']) {
    await cp(join(REPOSITORY, path), join(sources, path), { recursive: true, filter: isSource });
  }
  // The type check of the repository judges these sources. The build writes the same without it.
  const options = join(sources, 'tsconfig.base.json');
  const text = await readFile(options, 'utf8');
  await writeFile(options, text.replace('"compilerOptions": {', '"compilerOptions": { "noCheck": true,'));
  await mkdir(join(sources, 'node_modules/@parley'), { recursive: true });
  for (const name of await readdir(MODULES)) {
    if (name !== '@parley') await symlink(join(MODULES, name), join(sources, 'node_modules', name));
  }
  for (const path of PACKAGES)
    await symlink(join(sources, path), join(sources, 'node_modules/@parley', basename(path)));
  await symlink(join(REPOSITORY, CLI_MODULES), join(sources, CLI_MODULES));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-pack-'));
  sources = join(folder, 'sources');
  consumer = join(folder, 'consumer');
  await mkdir(consumer);
  await packSources();
  await writeFile(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const installed = join(consumer, 'node_modules');
  await unpack(run, tarballsOf(packed.slice(0, 1 + REFERENCED.length)), installed);
  // It finds no other package than those that the package files name.
  for (const name of await neededBySdk()) {
    await mkdir(dirname(join(installed, name)), { recursive: true });
    await symlink(join(MODULES, name), join(installed, name));
  }
});
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const tarballsOf = (all: readonly Packed[]) => all.map(({ filename }) => join(folder, filename));
const pathsIn = (all: readonly Packed[]) => all.map(({ files }) => files.map(({ path }) => path).sort());

it('the tarballs contain the build output, with the Redis scripts, and no sources', () => {
  const [sdk = [], core = [], shared = [], api = [], worker = [], server = [], cli = []] = pathsIn(packed);
  expect(shared).toEqual(
    expect.arrayContaining(['dist/domain/caller.js', 'dist/redis/elicitations/commit.lua']),
  );
  expect(core).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/domain/elicitations/elicitation.js']),
  );
  expect(sdk).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/chat.js', 'dist/chat.d.ts']),
  );
  for (const service of [api, worker, cli]) expect(service).toContain('dist/main.js');
  const others = (paths: readonly string[]) =>
    paths.filter((path) => !/^dist\/.*(?:\.js|\.js\.map|\.d\.ts|\.lua)$/.test(path)).sort();
  for (const paths of [core, sdk]) expect(others(paths)).toEqual(['README.md', 'package.json']);
  for (const paths of [shared, api, worker, server]) expect(others(paths)).toEqual(['package.json']);
  expect(others(cli)).toEqual(['bin/parley.js', 'package.json']);
});

it('Node imports the client and the chat transport', async () => {
  const script = `
    import { createClient } from '@parley/sdk';
    import { createChatTransport } from '@parley/sdk/chat';
    import { createOpenAiReader } from '@parley/sdk/openai';
    const options = { baseUrl: 'http://127.0.0.1:9', token: 'a-token' };
    const transport = createChatTransport(options);
    console.log(typeof createClient(options).ask, typeof transport.stopTurn, typeof createOpenAiReader());`;
  await writeFile(join(consumer, 'app.js'), script);
  expect(await run(process.execPath, ['app.js'], consumer)).toBe('function function function\n');
});

it.each(['ai', 'ai7'])(
  'TypeScript checks a program against their declarations and those of %s',
  async (ai) => {
    const peer = join(consumer, 'node_modules/ai');
    await rm(peer, { force: true });
    await symlink(join(MODULES, ai), peer);
    // npm reports a peer that is out of range.
    const dependencies = { '@parley/sdk': '*', ai: '*' };
    await writeFile(join(consumer, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
    await run('npm', ['ls', 'ai'], consumer);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext'];
    const types = ['--types', 'node', '--typeRoots', join(MODULES, '@types')];
    const right = `
    import { createClient } from '@parley/sdk';
    import { createChatTransport } from '@parley/sdk/chat';
    const options = { baseUrl: 'http://127.0.0.1:9', token: 'a-token' };
    import { createParleyProvider } from '@parley/sdk/ai-provider';
    import { type ChatTransport, streamText, type UIMessage } from 'ai';
    const transport = createChatTransport(options);
    export const chat: ChatTransport<UIMessage> = transport;
    const model = createParleyProvider(options)('helper');
    export const { text } = streamText({ model, prompt: 'Hello' });
    export const provider: string = model.provider;
    export const stopped: boolean = await transport.stopTurn('c1');
    export const status: string = (await createClient(options).get('el_1')).status;`;
    await writeFile(join(consumer, 'right.ts'), right);
    await writeFile(join(consumer, 'wrong.ts'), right.replace(/boolean|string/g, 'number'));
    const checking = run(process.execPath, [TSC, ...options, ...types, 'right.ts', 'wrong.ts'], consumer);
    const output = String(await checking.catch((error: unknown) => error));
    expect(output.split('\n').filter((line) => line.includes('error TS'))).toEqual([
      expect.stringMatching(/^wrong\.ts\(.*Type 'string' is not assignable to type 'number'/),
      expect.stringMatching(/^wrong\.ts\(.*Type 'boolean' is not assignable to type 'number'/),
      expect.stringMatching(/^wrong\.ts\(.*Type 'string' is not assignable to type 'number'/),
    ]);
  },
);

twoCommands(() => ({
  tarballs: tarballsOf(packed),
  modules: MODULES,
  cliModules: join(REPOSITORY, CLI_MODULES),
  run,
}));

it('packing the SDK also builds the packages that it references', () => {
  const [core] = referencedBuilds;
  expect(core).toContain('domain/elicitations/elicitation.js');
});
