/** The SDK as its users get it: three tarballs, installed without this repository and without a network. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const MODULES = join(REPOSITORY, 'node_modules');
const TSC = join(MODULES, 'typescript/bin/tsc');
const PACKAGES = ['shared', 'clients/core', 'clients/sdk'];
/** Their dependencies. */
const DEPENDENCIES = ['zod'];

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
/** A copy of the sources, so that the builds of this test affect no other test. */
let sources: string;
let consumer: string;
let packed: readonly Packed[];

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const env: NodeJS.ProcessEnv = { ...process.env };
  delete env.NODE_OPTIONS;
  const { stdout } = await promisify(execFile)(command, args, { cwd, env, timeout: 170_000 }).catch(
    ({ message, stdout }) => {
      throw new Error(`${message}\n${stdout}`);
    },
  );
  return stdout;
}

/** Packs packages into tarballs in `folder`. */
async function pack(from: string, paths: readonly string[], ...more: string[]): Promise<readonly Packed[]> {
  const args = [
    'pack',
    ...paths.map((path) => join(from, path)),
    '--pack-destination',
    folder,
    '--json',
    ...more,
  ];
  const stdout = await run('npm', args, from);
  // The output of the builds comes first.
  return JSON.parse(stdout.slice(stdout.search(/^\[$/m)));
}

async function copySources(): Promise<void> {
  const isSource = (path: string) => !/(?:^|\/)(?:dist|node_modules)$/.test(path.slice(REPOSITORY.length));
  for (const path of [...PACKAGES, 'package.json', 'tsconfig.base.json']) {
    await cp(join(REPOSITORY, path), join(sources, path), { recursive: true, filter: isSource });
  }
  await mkdir(join(sources, 'node_modules/@parley'), { recursive: true });
  for (const name of await readdir(MODULES)) {
    if (name !== '@parley') await symlink(join(MODULES, name), join(sources, 'node_modules', name));
  }
  for (const [name, path] of [
    ['shared', 'shared'],
    ['core', 'clients/core'],
  ] as const) {
    await symlink(join(sources, path), join(sources, 'node_modules/@parley', name));
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-pack-'));
  sources = join(folder, 'sources');
  consumer = join(folder, 'consumer');
  await mkdir(consumer);
  const packing = copySources().then(() => pack(sources, PACKAGES));
  const [own, dependencies] = await Promise.all([packing, pack(MODULES, DEPENDENCIES, '--ignore-scripts')]);
  packed = own;
  await writeFile(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const tarballs = [...own, ...dependencies].map(({ filename }) => join(folder, filename));
  const flags = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...flags, ...tarballs], consumer);
});
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const pathsIn = (all: readonly Packed[]) => all.map(({ files }) => files.map(({ path }) => path).sort());

it('the tarballs contain the build output, with the Redis scripts, and no sources', () => {
  const [shared = [], core = [], sdk = []] = pathsIn(packed);
  expect(shared).toEqual(
    expect.arrayContaining(['dist/domain/elicitations/elicitation.js', 'dist/redis/elicitations/commit.lua']),
  );
  expect(core).toEqual(expect.arrayContaining(['dist/index.js', 'dist/index.d.ts']));
  expect(sdk).toEqual(
    expect.arrayContaining(['dist/index.js', 'dist/index.d.ts', 'dist/chat.js', 'dist/chat.d.ts']),
  );
  const other = [...shared, ...core, ...sdk].filter(
    (path) => !/^dist\/.*(?:\.js|\.js\.map|\.d\.ts|\.lua)$/.test(path),
  );
  expect(other.sort()).toEqual(['README.md', 'README.md', 'package.json', 'package.json', 'package.json']);
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

it('TypeScript checks a program against their declarations', async () => {
  // The declarations of the chat transport need those of the AI SDK, a peer dependency.
  await symlink(join(MODULES, 'ai'), join(consumer, 'node_modules/ai'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'nodenext'];
  const types = ['--types', 'node', '--typeRoots', join(MODULES, '@types')];
  const check = (name: string) => run(process.execPath, [TSC, ...options, ...types, name], consumer);
  const right = `
    import { createClient } from '@parley/sdk';
    import { createChatTransport } from '@parley/sdk/chat';
    const options = { baseUrl: 'http://127.0.0.1:9', token: 'a-token' };
    export const stopped: boolean = await createChatTransport(options).stopTurn('c1');
    export const status: string = (await createClient(options).get('el_1')).status;`;
  await writeFile(join(consumer, 'right.ts'), right);
  await writeFile(join(consumer, 'wrong.ts'), right.replace(/boolean|string/g, 'number'));
  expect(await check('right.ts')).toBe('');
  const faults = String(await check('wrong.ts').catch((error: unknown) => error));
  expect(faults).toContain("Type 'boolean' is not assignable to type 'number'");
  expect(faults).toContain("Type 'string' is not assignable to type 'number'");
});

it('packing builds what is missing', async () => {
  for (const path of PACKAGES) await rm(join(sources, path, 'dist'), { recursive: true });
  // The build of the SDK also builds the packages that it references.
  expect(pathsIn(await pack(sources, ['clients/sdk']))).toEqual(pathsIn(packed).slice(2));
  expect(await readdir(join(sources, 'shared/dist/domain/elicitations'))).toContain('elicitation.js');
});
