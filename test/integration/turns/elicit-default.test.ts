import type { Support } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { ROOMY } from '../../contract/support/settings.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { listOpen, podOn, readEvents, saying, talk } from './setup.ts';

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

/** What came of a question with that client, and what is on record of it. */
async function asked(name: string, support: Support) {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const { turns, engine } = podOn(backend, model);
  const run = await turns.begin({ ...saying(conversation, name), support });
  const ended = async () => (await backend.runs.standing(run))?.status !== 'running';
  await waitUntil(async () => (await ended()) || (await listOpen(engine, conversation)).length > 0, {
    what: 'the end, or a question',
  });
  const { tenant, userId } = conversation;
  const { rows } = await engine.list({ owner: { tenant, userId }, limit: 5 });
  const text = (await readEvents(backend, run)).map((event) => ('text' in event ? event.text : '')).join('');
  await turns.close();
  return { text, rows };
}

const BLIND = { form: false, url: false };

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
