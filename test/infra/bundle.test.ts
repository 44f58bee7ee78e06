import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleProgram } from '../../infra/bundle/bundle.ts';
import { bundleEntry } from '../harness/processes/bundle.ts';
import { startProcess } from '../harness/processes/processes.ts';
import { startRedis } from '../harness/redis/redis-server.ts';

const run = promisify(execFile);
const KEY = 'a-service-key-of-the-bundle-test';
const AGENTS = `
models: { scripted: { provider: openai-compatible, baseUrl: "http://127.0.0.1:1/v1", model: m, apiKeyEnv: MODEL_KEY } }
agents: { a: { title: A, model: scripted, instructions: Be brief., tools: [{ server: s }] } }
mcpServers: { s: { title: S, transport: http, url: "http://127.0.0.1:1/mcp", credentialScope: none, approval: { ask: when, rule: "args.n > 1" } } }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-bundle-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a program that ships needs nothing but its folder, and keeps its code', async () => {
  const at = join(folder, 'api');
  for (const name of ['main.cjs', 'bundle.cjs'])
    await cp(join(dirname(await bundleEntry('services/api/src/main.ts')), name), join(at, name));
  const agents = join(folder, 'agents.yaml');
  await writeFile(agents, AGENTS);
  const redis = await startRedis();
  const startHere = () =>
    startProcess({
      name: 'bundle',
      entry: join(at, 'main.cjs'),
      wrap: ['env', '-C', folder],
      env: {
        PORT: '0',
        PARLEY_METRICS_PORT: '0',
        REDIS_URL: redis.url,
        PARLEY_API_KEYS: `default:${KEY}`,
        PARLEY_CONFIG: agents,
        MODEL_KEY: 'none',
      },
      readyWhen: (line) => line.listening === true,
    });
  const first = await startHere();
  const asked = await fetch(`http://127.0.0.1:${String(first.ready.port)}/v1/elicitations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      userId: 'ada',
      mode: 'form',
      message: 'Go?',
      requestedSchema: { type: 'object', properties: {} },
    }),
  });
  expect(asked.status).toBe(201);
  expect(await first.stop()).toMatchObject({ code: 0 });
  const kept = async () => (await readdir(at)).filter((name) => name.endsWith('.code'));
  const [code = '', ...more] = await kept();
  expect({ code, more }).toMatchObject({ code: expect.stringMatching(/^[\da-f]{16}\.\d+\.code$/), more: [] });
  const { mtimeMs } = await stat(join(at, code));
  await (await startHere()).stop();
  expect(await kept()).toEqual([code]);
  expect((await stat(join(at, code))).mtimeMs).toBe(mtimeMs);
  await redis.stop();
});

const READ = (name: string) => `readFileSync(new URL('${name}', import.meta.url), 'utf8')`;
const IMPORTS = "import { readFileSync } from 'node:fs';\nimport { createRequire } from 'node:module';\n";
it.each([
  ['holds the text of a file beside it', `console.log(${READ('./text.txt')})`, "it's text"],
  [
    'says what was not built when it is read',
    `try { ${READ('./dist/x')} } catch (e) { console.log(e.message) }`,
    './dist/x is not built',
  ],
  [
    'holds a package that is required at run time',
    "console.log(createRequire(import.meta.url)('./lazy.cjs').name)",
    'lazy',
  ],
  ['is not made of a source that may read elsewhere', 'console.log(import.meta.url)', undefined],
])('a bundle %s', async (name, source, expected) => {
  const at = join(folder, name.replaceAll(' ', '-'));
  await mkdir(at);
  await writeFile(join(at, 'text.txt'), "it's text");
  await writeFile(join(at, 'lazy.cjs'), "exports.name = 'lazy';");
  await writeFile(join(at, 'entry.ts'), `${IMPORTS}${source};\n`);
  const made = bundleProgram({ entry: join(at, 'entry.ts'), folder: join(at, 'out') });
  if (expected === undefined) return await expect(made).rejects.toThrow('reads the URL of itself');
  await made;
  for (const file of ['text.txt', 'lazy.cjs']) await rm(join(at, file));
  const { stdout } = await run(process.execPath, [join(at, 'out/main.cjs')]);
  expect(stdout).toBe(`${expected}\n`);
});
