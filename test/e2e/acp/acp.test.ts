import { methods } from '@agentclientprotocol/sdk';
import { createClient } from '@parley/sdk';
import { createParleyProvider } from '@parley/sdk/ai-provider';
import { streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SIZE } from '../../harness/load/size.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { findAcpx } from '../../harness/stacks/packages.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { type AcpPods, openAcpPods } from './site.ts';

const SESSIONS = SIZE.full ? 50 : 4;
const acpx = findAcpx();

let pods: AcpPods;
beforeAll(async () => {
  pods = await openAcpPods();
});
afterAll(() => pods?.stop());

const until = (what: string, condition: () => unknown) =>
  waitUntil(async () => condition(), { what, timeoutMs: 60_000 });

/** An editor whose person is asked in several sessions. */
async function askInSessions() {
  const { editor, release } = await pods.openEditor('ada');
  const turns = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, at) => {
      const sessionId = await editor.newSession();
      return { sessionId, name: `item-${at}`, ended: editor.say(sessionId, `item-${at}`) };
    }),
  );
  await until('the questions', () => editor.asked.length === SESSIONS);
  return { editor, release, turns };
}

/** An editor whose person is asked by an ACP program, to which the agent has delegated. */
async function askByProgram() {
  const { editor } = await pods.openEditor('cleo');
  const sessionId = await editor.newSession();
  const ended = editor.say(sessionId, 'code form');
  await until('the question', () => editor.asked.length === 1);
  return { editor, sessionId, ended };
}

/** A call of `streamText` that waits for its person. */
async function askInStream() {
  const token = await pods.token('emil');
  const asked: string[] = [];
  const onData = ({ id }: { readonly id?: string }) => void asked.push(id ?? '');
  const parley = createParleyProvider({ baseUrl: pods.url, token });
  const { text } = streamText({ model: parley('helper', { onData }), prompt: 'hat' });
  await until('the question', () => asked.length > 0);
  return { text, client: createClient({ baseUrl: pods.url, token }), id: asked[0] ?? '' };
}

/** A turn of the runtime of acpx that waits for its person. */
async function askByRuntime() {
  if ('notRun' in acpx) return undefined;
  const running = await pods.startRunner(acpx, 'coat', { answer: 'green' });
  const isAsked = () => running.lines.some((text) => text.includes('"asked"'));
  await until(`the question; ${running.noise.join(' ')}`, isAsked);
  return running;
}

describe('a question that waits while both pods are killed', () => {
  let sessions: Awaited<ReturnType<typeof askInSessions>>;
  let program: Awaited<ReturnType<typeof askByProgram>>;
  let stream: Awaited<ReturnType<typeof askInStream>>;
  let runtime: Awaited<ReturnType<typeof askByRuntime>>;
  beforeAll(async () => {
    [sessions, program, stream, runtime] = await Promise.all([
      askInSessions(),
      askByProgram(),
      askInStream(),
      askByRuntime(),
    ]);
    await pods.replaceAll();
  });

  it('of `parley acp` is kept in every session, and each answer counts once [ACP-15]', async () => {
    const { editor, release, turns } = sessions;
    release();
    for (const { sessionId, name, ended } of turns) {
      expect(await ended).toMatchObject({ stopReason: 'end_turn' });
      expect(editor.text(sessionId)).toBe(
        `One moment.\n\nHeard {"status":"accepted","answer":"green Which colour for ${name}?"}.`,
      );
    }
    expect(editor.asked).toHaveLength(SESSIONS);
  });

  it('of an ACP program is withdrawn: the program is lost with its pod, and the model learns that the outcome is unknown', async () => {
    const { editor, sessionId, ended } = program;
    expect(await ended).toMatchObject({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toContain('its outcome was lost with the pod that made it');
    const client = createClient({ baseUrl: pods.url, token: await pods.token('cleo') });
    const { elicitations } = await client.list().page();
    expect(elicitations.map(({ status }) => status)).toEqual(['withdrawn']);
  });

  it('of streamText of a model of Parley is answered', async () => {
    await stream.client.answer(stream.id, { action: 'accept', content: { answer: 'green' } });
    expect(await stream.text).toContain('"answer":"green"');
  });

  if ('notRun' in acpx) suiteNotRun('acpx', acpx.notRun);
  else
    it('of acpx is answered through its runtime', async () => {
      if (runtime === undefined) throw new Error('It was not started.');
      const { child, lines } = runtime;
      child.stdin.write('now\n');
      await until('the end', () => lines.some((text) => text.includes('"result"')));
      const { said, result } = JSON.parse(lines.find((text) => text.includes('"result"')) ?? '{}');
      expect(said).toContain('"answer":"green"');
      expect(result).toMatchObject({ status: 'completed' });
    });
});

it('parley acp that is started anew loads the conversation and asks again what is open', async () => {
  const before = await pods.openEditor('bob');
  const sessionId = await before.editor.newSession();
  before.editor.say(sessionId, 'shirt').catch(() => undefined);
  await until('the question', () => before.editor.asked.length === 1);
  before.editor.close();
  const { editor, release } = await pods.openEditor('bob');
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: '/tmp', mcpServers: [] });
  await until('the question again', () => editor.asked.length === 1);
  release();
  await until('the reply', () => editor.text(sessionId).includes('Heard {"status":"accepted"'));
});

it('an ACP program as a delegate gets an answer that any pod takes', async () => {
  const { editor, release } = await pods.openEditor('dora');
  const sessionId = await editor.newSession();
  release();
  await editor.say(sessionId, 'code form');
  expect(editor.text(sessionId)).toContain('"city":"Rome"');
});

if (!('notRun' in acpx))
  it('acpx without modes gets the description of the question, and the default goes on', async () => {
    const { lines, noise, exited } = await pods.startCommand(acpx, 'guess');
    expect(await exited, noise.join('\n')).toBe(0);
    expect(lines.join('\n')).toContain('Which colour for guess?');
    expect(lines.join('\n')).toContain('grey');
  });
