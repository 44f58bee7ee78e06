import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { createClient } from '@parley/sdk';
import { createParleyProvider } from '@parley/sdk/ai-provider';
import { streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AnswerTo, connectEditor } from '../../harness/acp/setup.ts';
import { findAcpx, RUNNER } from '../../harness/acpx/acpx.ts';
import { SIZE } from '../../harness/load/size.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { type AcpPods, openAcpPods, PARLEY } from './site.ts';

vi.setConfig({ testTimeout: SIZE.full ? 900_000 : 120_000, hookTimeout: 120_000 });

const SESSIONS = SIZE.full ? 50 : 4;

let pods: AcpPods;
beforeAll(async () => {
  pods = await openAcpPods();
});
afterAll(() => pods?.stop());

/** An editor with `parley acp`, whose person answers when the test says so. */
async function openEditor(userId: string) {
  const child = await pods.serve(userId);
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream);
  let release: () => void = () => undefined;
  const answering = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answer: AnswerTo = async ({ message }) => {
    await answering;
    const content = message.includes('colour') ? { answer: `green ${message}` } : { city: 'Rome' };
    return { action: 'accept', content };
  };
  const editor = await connectEditor(stream, { elicitation: { form: {}, url: {} } }, answer);
  onTestFinished(() => {
    editor.close();
    child.kill();
  });
  return { editor, release };
}

const until = (what: string, condition: () => unknown) => waitUntil(async () => condition(), { what });

describe('parley acp, through two pods', () => {
  it('keeps every question while both pods are killed, and each answer counts once [ACP-15]', async () => {
    const { editor, release } = await openEditor('ada');
    const turns = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, at) => {
        const sessionId = await editor.newSession();
        return { sessionId, name: `item-${at}`, ended: editor.say(sessionId, `item-${at}`) };
      }),
    );
    await until('the questions', () => editor.asked.length === SESSIONS);
    await pods.replaceAll();
    release();
    for (const { sessionId, name, ended } of turns) {
      expect(await ended).toMatchObject({ stopReason: 'end_turn' });
      expect(editor.text(sessionId)).toBe(
        `One moment.\n\nHeard {"status":"accepted","answer":"green Which colour for ${name}?"}.`,
      );
    }
    expect(editor.asked).toHaveLength(SESSIONS);
  });

  it('that is started anew loads the conversation and asks again what is open', async () => {
    const before = await openEditor('bob');
    const sessionId = await before.editor.newSession();
    before.editor.say(sessionId, 'shirt').catch(() => undefined);
    await until('the question', () => before.editor.asked.length === 1);
    before.editor.close();
    const { editor, release } = await openEditor('bob');
    await editor.agent.request(methods.agent.session.load, { sessionId, cwd: '/tmp', mcpServers: [] });
    await until('the question again', () => editor.asked.length === 1);
    release();
    await until('the reply', () => editor.text(sessionId).includes('Heard {"status":"accepted"'));
  });
});

describe('an ACP program as a delegate', () => {
  it('is lost with its pod: its question is withdrawn, and the model learns that the outcome is unknown', async () => {
    const { editor } = await openEditor('cleo');
    const sessionId = await editor.newSession();
    const ended = editor.say(sessionId, 'code form');
    await until('the question', () => editor.asked.length === 1);
    await pods.replaceAll();
    expect(await ended).toMatchObject({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toContain('its outcome was lost with the pod that made it');
    const client = createClient({ baseUrl: pods.url, token: await pods.token('cleo') });
    const { elicitations } = await client.list().page();
    expect(elicitations.map(({ status }) => status)).toEqual(['withdrawn']);
  });

  it('gets an answer that any pod takes', async () => {
    const { editor, release } = await openEditor('dora');
    const sessionId = await editor.newSession();
    release();
    await editor.say(sessionId, 'code form');
    expect(editor.text(sessionId)).toContain('"city":"Rome"');
  });
});

it('streamText of a model of Parley survives the pods of its turn', async () => {
  const token = await pods.token('emil');
  const client = createClient({ baseUrl: pods.url, token });
  const asked: string[] = [];
  const onData = ({ id }: { readonly id?: string }) => void asked.push(id ?? '');
  const parley = createParleyProvider({ baseUrl: pods.url, token });
  const { text } = streamText({ model: parley('helper', { onData }), prompt: 'hat' });
  await until('the question', () => asked.length > 0);
  await pods.replaceAll();
  await client.answer(asked[0] ?? '', { action: 'accept', content: { answer: 'green' } });
  expect(await text).toContain('"answer":"green"');
});

const acpx = findAcpx();
if ('notRun' in acpx) suiteNotRun('acpx', acpx.notRun);
else {
  const { node, cli } = acpx;

  async function start(args: readonly string[], userId: string) {
    const token = await pods.token(userId);
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: pods.folder,
      PARLEY_URL: pods.url,
      PARLEY_TOKEN: token,
    };
    const child = spawn(node, args, { env, cwd: pods.folder, stdio: ['pipe', 'pipe', 'pipe'] });
    const lines: string[] = [];
    const noise: string[] = [];
    createInterface({ input: child.stdout }).on('line', (text) => lines.push(text));
    createInterface({ input: child.stderr }).on('line', (text) => noise.push(text));
    const exited = new Promise<number | null>((resolve) => child.on('exit', resolve));
    onTestFinished(() => void child.kill());
    return { child, lines, noise, exited };
  }
  const command = [process.execPath, ...PARLEY].join(' ');

  describe('acpx', () => {
    it('answers a form through its runtime, with both pods killed while the question waits', async () => {
      const stateDir = `${pods.folder}/acpx`;
      const input = { command, cwd: pods.folder, stateDir, text: 'coat', content: { answer: 'green' } };
      const { child, lines, noise } = await start([RUNNER, JSON.stringify(input)], 'fay');
      await waitUntil(async () => lines.some((text) => text.includes('"asked"')), {
        what: `the question; ${noise.join(' ')}`,
      });
      await pods.replaceAll();
      child.stdin.write('now\n');
      await until('the end', () => lines.some((text) => text.includes('"result"')));
      const { said, result } = JSON.parse(lines.find((text) => text.includes('"result"')) ?? '{}');
      expect(said).toContain('"answer":"green"');
      expect(result).toMatchObject({ status: 'completed' });
    });

    it('without modes gets the description of the question, and the default goes on', async () => {
      const { lines, noise, exited } = await start([cli, '--agent', command, 'exec', 'guess'], 'gil');
      expect(await exited, noise.join('\n')).toBe(0);
      expect(lines.join('\n')).toContain('Which colour for guess?');
      expect(lines.join('\n')).toContain('grey');
    });
  });
}
