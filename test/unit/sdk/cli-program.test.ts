import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { questionOf } from '../../../clients/cli/src/commands/elicit.ts';
import { startService } from '../../../clients/cli/src/dev/api-process.ts';
import { readDevServer, returnToDevServer, writeDevServer } from '../../../clients/cli/src/dev/settings.ts';
import { EXIT } from '../../../clients/cli/src/exit-code.ts';
import { schemaOfFlags } from '../../../clients/cli/src/question-of-flags.ts';
import { VERSION } from '../../../clients/cli/src/version.ts';
import { runCli as run } from '../../harness/cli/run.ts';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import { waitUntil } from '../../harness/wait-until.ts';

it('the help lists every command, without colours', async () => {
  const { out, code } = await run(['--help']);
  expect(code).toBe(EXIT.accepted);
  for (const name of [
    ...[
      'dev',
      'ask',
      'elicit',
      'inbox',
      'answer',
      'watch',
      'why',
      'token',
      'env',
      'secret',
      'doctor',
      'capacity',
      'acp',
    ],
    'completion',
  ])
    expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
  expect(out).not.toContain('\u001B');
});

it('the version is that of the manifest', async () => {
  const manifest = JSON.parse(
    readFileSync(new URL('../../../clients/cli/package.json', import.meta.url), 'utf8'),
  );
  expect(VERSION).toBe(manifest.version);
});

it.each([
  [['nothing'], EXIT.usage],
  [['ask'], EXIT.usage],
  [['ask', 'Really?', '--user', 'ada', '--confirm', '--number'], EXIT.usage],
  [['answer', 'el_1'], EXIT.unavailable],
  [['token', 'ada'], EXIT.usage],
  [['env'], EXIT.failed],
  [['why', 'sr_1'], EXIT.usage],
  [['why', 'sr_1', '--user', 'ada', '--key', 'desk'], EXIT.usage],
  [['why', 'el_1'], EXIT.unavailable],
])('%j ends with %d', async (args, expected) => {
  const { code, err } = await run(args, { PARLEY_TOKEN: 't', PARLEY_URL: 'http://127.0.0.1:9' });
  expect(code).toBe(expected);
  expect(err).not.toBe('');
});

it('a failure is JSON with --json', async () => {
  const { err } = await run(['--json', 'token', 'ada']);
  expect(JSON.parse(err)).toEqual({ error: { code: 'usage', message: expect.any(String) } });
});

it('completion knows the commands and their options', async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await run(['completion', shell])).out).toMatch(/inbox[\s\S]*choice/);
});

it.each([
  [{ choice: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
  [
    { choice: ['a', 'b'], multi: true, min: 1 },
    { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 },
  ],
  [
    { integer: true, min: 1, max: 5 },
    { type: 'integer', minimum: 1, maximum: 5 },
  ],
  [{ confirm: true }, { type: 'boolean' }],
  [{ date: true }, { type: 'string', format: 'date' }],
  [{}, { type: 'string', minLength: 1 }],
])('flags %j describe a field', (flags, field) => {
  expect(schemaOfFlags(flags, 'Answer').properties.answer).toMatchObject(field);
});

it('fields as agents list them become a form, but no secret does', () => {
  const fields = [
    { name: 'env', prompt: 'Where to?', type: 'choice', options: ['staging'] },
    { name: 'sure', type: 'confirm', required: false },
  ];
  const question = questionOf(JSON.stringify({ message: 'Release', fields }), {}, () => 'ada');
  expect(question).toMatchObject({
    userId: 'ada',
    mode: 'form',
    requestedSchema: {
      properties: {
        env: { title: 'Where to?', oneOf: [{ const: 'staging', title: 'staging' }] },
        sure: { type: 'boolean' },
      },
      required: ['env'],
    },
  });
  const secret = JSON.stringify({ message: 'm', fields: [{ name: 'key', type: 'secret' }] });
  expect(() => questionOf(secret, {}, () => 'ada')).toThrow(/no form may carry a secret/);
});

const HOSTILE = 'a\u001b[2Jb\u009b1mc\u202ed\re';
// Line breaks end the lines of the output.
const CONTROLS = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** A server whose every word is hostile. */
async function hostileServer(): Promise<Record<string, string>> {
  let streams = 0;
  const server = createServer((req, res) => {
    if (req.method === 'POST') {
      const elicitation = {
        elicitationId: 'el_1',
        status: 'accepted',
        mode: 'form',
        content: { answer: HOSTILE },
      };
      const times = { expiresAt: '2030-01-01T00:00:00Z', serverTime: '2029-01-01T00:00:00Z' };
      res.setHeader('content-type', 'application/json').end(JSON.stringify({ ...elicitation, ...times }));
    } else if (streams++ === 0) {
      const data = { elicitationId: 'el_1', status: 'pending', message: HOSTILE };
      res.setHeader('content-type', 'text/event-stream');
      res.write(`event: odd\u001b[2J\u009b\ndata: ${JSON.stringify(HOSTILE)}\n\n`);
      res.write(`event: elicitation-request\ndata: ${JSON.stringify(data)}\n\n`);
      const tool = { server: 'bank', name: 'pay', title: HOSTILE };
      const approval = { approvalId: 'ap_1', status: 'pending', agent: 'Helper', tool };
      res.end(`event: approval-request\ndata: ${JSON.stringify(approval)}\n\n`);
    } else {
      res.writeHead(404, { 'content-type': 'application/problem+json' });
      res.end(JSON.stringify({ status: 404, code: 'not_found', detail: HOSTILE }));
    }
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { PARLEY_URL: `http://127.0.0.1:${port}`, PARLEY_TOKEN: 't', NO_COLOR: '1' };
}

it('a terminal gets no control characters of events and failures', async () => {
  const { out, err } = await run(['watch', 's-1'], await hostileServer());
  expect(out.split('\n')).toHaveLength(4);
  expect(out).toContain('[U+009B]');
  // The server chooses the title.
  expect(out).toContain('approval-request ap_1 pending "Helper wants to call pay of bank: a[U+001B]');
  expect(out).not.toMatch(CONTROLS);
  expect(err).toContain('[U+001B]');
  expect(err).not.toMatch(CONTROLS);
});

it.each(['{"reasons": "no list"}', '[]', '<html>'])(
  'why says that %s is no reply of Parley',
  async (body) => {
    const server = createServer((_req, res) => res.setHeader('content-type', 'application/json').end(body));
    const port = await listenOnFreePort(server);
    onTestFinished(() => void server.close());
    const env = { PARLEY_URL: `http://127.0.0.1:${port}`, PARLEY_TOKEN: 'key' };
    const { code, err } = await run(['why', 'el_1'], env);
    const said = /^parley: The reply (does not come from Parley|is not JSON); check .+\.\n$/;
    expect([code, err]).toEqual([EXIT.refused, expect.stringMatching(said)]);
  },
);

it('doctor prints no control characters of a server', async () => {
  const server = createServer((_req, res) => {
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ info: { version: HOSTILE } }));
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => void server.close());
  const env = { PARLEY_URL: `http://127.0.0.1:${port}`, PARLEY_TOKEN: 't', NO_COLOR: '1' };
  const { out } = await run(['doctor'], env);
  expect(out).toContain('[U+001B]');
  expect(out).not.toMatch(CONTROLS);
});

it('an answer is printed as it is into a pipe, and without control characters on a terminal', async () => {
  const env = await hostileServer();
  const ask = ['ask', 'Really?', '--user', 'ada'];
  expect((await run(ask, env)).out).toBe(`${HOSTILE}\n`);
  expect((await run(ask, env, { isTTY: true })).out).not.toMatch(CONTROLS);
  expect((await run(['--json', ...ask], env, { isTTY: true })).out).not.toMatch(CONTROLS);
});

it('the secrets of the development server are private, also in a file that others could read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const first = writeDevServer(folder, 'http://localhost:1');
  chmodSync(join(folder, 'dev.json'), 0o644);
  expect(writeDevServer(folder, 'http://localhost:2')).toEqual({ ...first, url: 'http://localhost:2' });
  expect(statSync(join(folder, 'dev.json')).mode & 0o777).toBe(0o600);
  // The second server ends, and the first one still runs.
  returnToDevServer(folder, 'http://localhost:1', 'http://localhost:2');
  expect(readDevServer(folder)).toEqual(first);
  // Another one has begun since.
  returnToDevServer(folder, 'http://localhost:3', 'http://localhost:2');
  expect(readDevServer(folder)).toEqual(first);
  expect(readdirSync(folder)).toEqual(['dev.json']);
});

it('`parley env` prints what a program needs of the development server, as an .env file and as JSON', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { url, serviceKey, jwtSecret } = writeDevServer(folder, 'http://localhost:1');
  const settings = {
    PARLEY_URL: url,
    PARLEY_TOKEN: serviceKey,
    PARLEY_JWT_SECRET: jwtSecret,
    PARLEY_TENANT: 'dev',
  };
  const env = { PARLEY_HOME: folder };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  expect(await run(['env'], env)).toEqual({ out: lines.join(''), err: '', code: EXIT.accepted });
  expect(JSON.parse((await run(['--json', 'env'], env)).out)).toEqual(settings);
});

it('a service that is stopped before it is ready ends', async () => {
  const stop = new AbortController();
  const env = { ...process.env, REDIS_URL: '', PORT: '0', PARLEY_METRICS_PORT: '0' };
  const starting = startService('api', { env, onLog: () => undefined, signal: stop.signal });
  stop.abort();
  await expect(starting).rejects.toMatchObject({ code: 'not_started' });
});

it('dev says why its api cannot start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { ...(process.env as object), PARLEY_HOME: folder, PARLEY_SWEEP_MS: 'often' };
  const { code, err } = await run(['dev', '--memory', '--port', String(await freePort())], env);
  expect(code).toBe(EXIT.failed);
  expect(err).toContain('PARLEY_SWEEP_MS');
});

it('dev says how to change the port when it is taken, and leaves the address of the server that has it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const before = writeDevServer(folder, 'http://localhost:1');
  const server = createServer();
  const port = await listenOnFreePort(server);
  onTestFinished(() => void server.close());
  const { code, err } = await run(['dev', '--memory', '--port', `${port}`], { PARLEY_HOME: folder });
  expect([code, err]).toEqual([EXIT.failed, expect.stringContaining(`Port ${port} is in use.`)]);
  expect(err).toContain(`parley dev --port ${port + 1}\n`);
  expect(readDevServer(folder)).toEqual(before);
});

it('dev leaves no service behind a reader that closes the pipe', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { ...process.env, PARLEY_HOME: folder };
  const args = ['clients/cli/bin/parley.js', 'dev', '--memory', '--port', `${await freePort()}`];
  const dev = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = new Promise((resolve) => dev.once('exit', resolve));
  await new Promise((resolve) => dev.stdout.once('data', resolve));
  expect(apisOf(folder).length).toBeGreaterThan(1);
  dev.stdout.destroy();
  // It tells each question, and the next one that it tells meets a closed pipe.
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const endsAtQuestion = async () => {
    if (!hasEnded) await run(['ask', 'Still there?', '--no-wait'], env);
    return hasEnded;
  };
  await waitUntil(endsAtQuestion, { what: 'its end', everyMs: 200 });
  expect(await ended).toBe(EXIT.accepted);
  expect(apisOf(folder)).toEqual([]);
});

it('dev ends at once with the reason when the Redis that it is given cannot be reached', async () => {
  const [own, redis] = [await freePort(), await freePort()];
  const { code, err } = await run(['dev', '--port', `${own}`], { REDIS_URL: `redis://127.0.0.1:${redis}` });
  expect(code).toBe(EXIT.unavailable);
  expect(err).toBe(`parley: The Redis at 127.0.0.1:${redis} cannot be reached.\n`);
});

// Every other test starts pods from a bundle.
it('dev runs the api straight from its sources, ends with an error when that dies, and prints no control characters of its log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-dev-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const args = ['dev', '--memory', '--no-question', '--verbose', '--port', String(port)];
  // What the api says before it has a log.
  const NODE_OPTIONS = '--import=data:text/javascript,console.error(String.fromCharCode(97,27,155))';
  let kills = 0;
  let served: Promise<number[]> | undefined;
  const onOut = (text: string) => {
    if (!text.includes('Parley runs at')) return;
    served = Promise.all(
      ['readyz', 'openapi.json'].map((path) => statusOf(`http://127.0.0.1:${port}/${path}`)),
    );
    void served.finally(() => {
      for (const pid of apisOf(folder)) {
        kills += 1;
        process.kill(pid, 'SIGKILL');
      }
    });
  };
  const env = { ...(process.env as object), PARLEY_HOME: folder, NODE_OPTIONS };
  const { code, out, err } = await run(args, env, { onOut });
  // Another terminal does not have this environment.
  expect(out).toContain(`  PARLEY_HOME=${folder} parley answer\n`);
  expect(await served).toEqual([200, 200]);
  expect(kills).toBeGreaterThan(0);
  expect(err).toContain('The api ended');
  expect(err).toContain('[U+001B]');
  expect(err).not.toMatch(CONTROLS);
  expect(code).toBe(EXIT.failed);
});

/** The status of the reply; 0 where there is none. */
function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
}

/** The processes that were started with this folder. */
function apisOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        // The compiler of a service's sources is a process of its own, which ends a moment later.
        const isCompiler = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('esbuild');
        return !isCompiler && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`PARLEY_HOME=${folder}`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

it.each(['constructor', 'toString', '__proto__'])(
  'the file of secrets has no secret %s until there is one',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const secret = (command: string, input = '') =>
      run(['secret', command, name], { PARLEY_HOME: folder, PARLEY_KEYRING: 'file' }, { input });
    const unknown = { code: EXIT.failed, err: expect.stringContaining(`There is no secret ${name}.`) };
    expect(await secret('get')).toMatchObject(unknown);
    expect(await secret('rm')).toMatchObject(unknown);
    expect(await secret('set', 'its-value')).toMatchObject({ code: EXIT.accepted });
    expect((await secret('get')).out).toBe('its-value');
    expect(await secret('rm')).toMatchObject({ code: EXIT.accepted });
    expect(await secret('get')).toMatchObject(unknown);
  },
);
