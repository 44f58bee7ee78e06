import type { RunRef, Support } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { followTurn } from '../../../services/api/src/turns/follow.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { listOpen, podOn, readEvents, saying, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const QUESTIONS: Readonly<Record<string, object>> = {
  choice: {
    kind: 'choice',
    message: 'Which size?',
    options: [{ value: 'small' }, { value: 'large' }],
    default: 'small',
  },
  confirmation: { kind: 'confirmation', message: 'With sugar?', default: false },
  text: { kind: 'text', message: 'Which name?', default: 'Nobody' },
  'no default': { kind: 'text', message: 'Which name?' },
  multi: { kind: 'multi_choice', message: 'Which?', options: [{ value: 'a' }, { value: 'b' }] },
  'sensitive choice': {
    kind: 'choice',
    message: 'Which size?',
    options: [{ value: 'small' }, { value: 'large' }],
    sensitive: true,
  },
  'a wrong default': {
    kind: 'choice',
    message: '?',
    options: [{ value: 'a' }, { value: 'b' }],
    default: 'c',
  },
};

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText, results }) =>
        results.length === 0
          ? { calls: [{ name: 'elicit', arguments: { ...QUESTIONS[userText] } }] }
          : { text: results.map(({ text }) => text).join() },
    ],
  });
});
afterAll(() => model.stop());

/** Begins a turn that asks the question, and waits until it is open or the turn has ended. */
async function ask(name: string, support: Support, hasAnswerPage = false) {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const pod = podOn(backend, model, { hasAnswerPage });
  const run = await pod.turns.begin({ ...saying(conversation, name), support });
  const ended = async () => (await backend.runs.standing(run))?.status !== 'running';
  await waitUntil(async () => (await ended()) || (await listOpen(pod.engine, conversation)).length > 0, {
    what: 'the end, or a question',
  });
  return { ...pod, backend, conversation, run, ended };
}

/** What came of a question with that client, and what is on record of it. */
async function asked(name: string, support: Support, hasAnswerPage = false) {
  const { turns, engine, backend, conversation, run } = await ask(name, support, hasAnswerPage);
  const { tenant, userId } = conversation;
  const { rows } = await engine.list({ owner: { tenant, userId }, limit: 5 });
  const text = await said(backend, run);
  await turns.close();
  return { text, rows };
}

async function said(backend: Backend, run: RunRef): Promise<string> {
  return (await readEvents(backend, run)).map((event) => ('text' in event ? event.text : '')).join('');
}

const BLIND = { form: false, url: false };
const URLS_ONLY = { form: false, url: true };

describe('a question with a default', () => {
  it('that the client cannot show continues with the default, marked as such; no question is recorded', async () => {
    for (const [name, value] of [
      ['choice', 'small'],
      ['confirmation', false],
      ['text', 'Nobody'],
    ] as const) {
      const { text, rows } = await asked(name, BLIND);
      expect(JSON.parse(text)).toEqual({
        status: 'not_asked',
        default: value,
        note: expect.stringContaining("not the user's answer"),
      });
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ status: 'withdrawn', settlement: { reason: 'undeliverable' } });
    }
  });

  it('is asked where the client can show it', async () => {
    const { rows } = await asked('choice', { form: true, url: false });
    expect(rows[0]?.status).toBe('pending');
  });

  it('continues with the default and records nothing where there is no user at all', async () => {
    const { text, rows } = await asked('choice', { ...BLIND, unattended: true });
    expect(JSON.parse(text)).toMatchObject({ status: 'not_asked', default: 'small' });
    expect(rows).toEqual([]);
  });

  it('that is not a valid answer is refused with an explanation', async () => {
    const { text, rows } = await asked('a wrong default', BLIND);
    expect(text).toContain('default: ');
    expect(rows).toEqual([]);
  });
});

it('a question without a default is not asked where it cannot be shown', async () => {
  const { text, rows } = await asked('no default', BLIND);
  expect(text).toContain('cannot show questions');
  expect(rows).toEqual([]);
});

describe('a form for a client that shows urls', () => {
  /** The question as the client of the turn gets it. */
  async function shownOf({ engine, turns, run }: Awaited<ReturnType<typeof ask>>) {
    const events = await followTurn({ engine, turns }, run, { signal: AbortSignal.timeout(10_000) });
    for await (const event of events) if (event.type === 'question') return event.elicitation;
    return undefined;
  }

  it('and no forms is one form, shown as a url that leads to its answer page', async () => {
    const pod = await ask('no default', URLS_ONLY, true);
    const rows = await listOpen(pod.engine, pod.conversation);
    expect(rows).toHaveLength(1);
    const id = rows[0]?.id ?? '';
    const answerUrl = `https://parley.example/auth/answer/${id}`;
    expect(rows[0]?.definition).toMatchObject({ mode: 'form', answerUrl, requestedSchema: {} });
    const shown = await shownOf(pod);
    expect(shown).toMatchObject({ mode: 'url', url: answerUrl, completion: 'server' });
    expect(shown).not.toHaveProperty('requestedSchema');
    await pod.turns.close();
  });

  it('takes its consent to open as no answer, and the outcome of the form as the outcome', async () => {
    const pod = await ask('no default', URLS_ONLY, true);
    const { engine, conversation, backend, run } = pod;
    const id = (await listOpen(engine, conversation))[0]?.id ?? '';
    const consented = await answerQuestion(engine, conversation, id, 'accept');
    expect(consented.row).toMatchObject({ status: 'opened' });
    expect(await pod.ended()).toBe(false);
    await answerQuestion(engine, conversation, id, 'accept', { answer: 'Ada' });
    await waitUntil(pod.ended, { what: 'the end of the turn' });
    expect(JSON.parse(await said(backend, run))).toEqual({ status: 'accepted', answer: 'Ada' });
    await pod.turns.close();
  });

  it('that declines it has declined the form', async () => {
    const pod = await ask('no default', URLS_ONLY, true);
    const id = (await listOpen(pod.engine, pod.conversation))[0]?.id ?? '';
    await answerQuestion(pod.engine, pod.conversation, id, 'decline');
    await waitUntil(pod.ended, { what: 'the end of the turn' });
    expect(await said(pod.backend, pod.run)).toContain('declined');
    await pod.turns.close();
  });

  it('goes to the page where the client shows forms, but not a field of this kind or a sensitive one', async () => {
    const some: Support = { form: true, url: true, fieldKinds: ['text', 'select'] };
    expect((await asked('no default', some, true)).rows[0]?.definition).not.toHaveProperty('answerUrl');
    expect((await asked('multi', some, true)).rows[0]?.definition).toHaveProperty('answerUrl');
    const careful: Support = { form: true, url: true, sensitiveForms: false };
    expect((await asked('choice', careful, true)).rows[0]?.definition).not.toHaveProperty('answerUrl');
    expect((await asked('sensitive choice', careful, true)).rows[0]?.definition).toHaveProperty('answerUrl');
    expect((await asked('sensitive choice', careful)).text).toContain('cannot show questions');
  });

  it('is not asked in a deployment without the page', async () => {
    const { text, rows } = await asked('no default', URLS_ONLY);
    expect(text).toContain('cannot show questions');
    expect(rows).toEqual([]);
  });
});
