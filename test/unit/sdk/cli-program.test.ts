import { readFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { questionOf } from '../../../clients/cli/src/commands/elicit.ts';
import { readCliEnv } from '../../../clients/cli/src/env.ts';
import { EXIT } from '../../../clients/cli/src/exit-code.ts';
import { runProgram } from '../../../clients/cli/src/program.ts';
import { schemaOfFlags } from '../../../clients/cli/src/question-of-flags.ts';
import { VERSION } from '../../../clients/cli/src/version.ts';

async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  let [out, err, code] = ['', '', 0];
  const sink = (take: (text: string) => void) =>
    new Writable({
      write(chunk, _encoding, done) {
        take(String(chunk));
        done();
      },
    });
  await runProgram(args, {
    env: readCliEnv({ PARLEY_HOME: '/nonexistent/parley', ...env }),
    stdin: Readable.from([]),
    stdout: sink((text) => {
      out += text;
    }),
    stderr: sink((text) => {
      err += text;
    }),
    signal: new AbortController().signal,
    setExitCode(value) {
      code = value;
    },
  });
  return { out, err, code };
}

it('the help lists every command, without colours', async () => {
  const { out, code } = await run(['--help']);
  expect(code).toBe(EXIT.accepted);
  for (const name of [
    'dev',
    'ask',
    'elicit',
    'inbox',
    'answer',
    'watch',
    'token',
    'secret',
    'doctor',
    'acp',
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
