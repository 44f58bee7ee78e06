import type { Support } from '@parley/shared/domain/runs/run';
import { describe, expect, it } from 'vitest';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const SIZE = {
  kind: 'choice',
  message: 'Which size?',
  options: [{ value: 'small' }, { value: 'large' }],
} as const;
const QUESTIONS: Readonly<Record<string, object>> = {
  choice: { ...SIZE, default: 'small' },
  confirmation: { kind: 'confirmation', message: 'With sugar?', default: false },
  text: { kind: 'text', message: 'Which name?', default: 'Nobody' },
  'no default': { kind: 'text', message: 'Which name?' },
  multi: { ...SIZE, kind: 'multi_choice' },
  'sensitive choice': { ...SIZE, sensitive: true },
  'a wrong default': { ...SIZE, default: 'huge' },
};

const model = modelOf(({ userText, results }) =>
  results.length === 0
    ? { calls: [{ name: 'elicit', arguments: { ...QUESTIONS[userText] } }] }
    : { text: results.map(({ text }) => text).join() },
);

/** Begins a turn that asks the question, and waits until it is open or the turn has ended. */
async function ask(name: string, support: Support, hasAnswerPage = false) {
  const world = worldOn(model, { hasAnswerPage });
  const { engine, turns } = world.pod();
  const run = await turns.begin({ ...world.saying(name), support });
  const hasEnded = async () => (await world.standing(run))?.status !== 'running';
  await waitUntil(async () => (await hasEnded()) || (await world.open()).length > 0, {
    what: 'the end, or a question',
  });
  const { tenant, userId } = world.conversation;
  const { rows } = await engine.list({ owner: { tenant, userId }, limit: 5 });
  return { ...world, turns, run, rows, id: rows[0]?.id ?? '', said: await world.text(run) };
}

const BLIND = { form: false, url: false };
const URLS_ONLY = { form: false, url: true };

describe('a question with a default', () => {
  it.each([
    ['choice', 'small'],
    ['confirmation', false],
    ['text', 'Nobody'],
  ])(
    'that the client cannot show continues with the default, marked as such; no question is recorded (%s)',
    async (name, value) => {
      const { said, rows } = await ask(name, BLIND);
      expect(JSON.parse(said)).toEqual({
        status: 'not_asked',
        default: value,
        note: expect.stringContaining("not the user's answer"),
      });
      expect(rows).toMatchObject([{ status: 'withdrawn', settlement: { reason: 'undeliverable' } }]);
    },
  );

  it('is asked where the client can show it', async () => {
    expect((await ask('choice', { form: true, url: false })).rows[0]?.status).toBe('pending');
  });

  it('continues with the default and records nothing where there is no user at all', async () => {
    const { said, rows } = await ask('choice', { ...BLIND, unattended: true });
    expect(JSON.parse(said)).toMatchObject({ status: 'not_asked', default: 'small' });
    expect(rows).toEqual([]);
  });
});

it.each([
  ['a default that is not a valid answer', 'a wrong default', BLIND, 'default: '],
  ['no default, for a client that shows nothing', 'no default', BLIND, 'cannot show questions'],
  ['a form for urls, where there is no answer page', 'no default', URLS_ONLY, 'cannot show questions'],
])('a question with %s is refused with an explanation', async (_what, name, support, reason) => {
  const { said, rows } = await ask(name, support);
  expect(said).toContain(reason);
  expect(rows).toEqual([]);
});

describe('a form for a client that shows urls', () => {
  const SOME: Support = { form: true, url: true, fieldKinds: ['text', 'select'] };
  const CAREFUL: Support = { form: true, url: true, sensitiveForms: false };
  it.each([
    ['no default', SOME, false],
    ['multi', SOME, true],
    ['choice', CAREFUL, false],
    ['sensitive choice', CAREFUL, true],
  ] as const)(
    'goes to the page where the client shows forms, but not a field of this kind or a sensitive one (%s)',
    async (name, support, toPage) => {
      const { rows } = await ask(name, support, true);
      expect('answerUrl' in (rows[0]?.definition ?? {})).toBe(toPage);
    },
  );

  it('that must not be shown is not asked in a deployment without the page', async () => {
    expect((await ask('sensitive choice', CAREFUL)).said).toContain('cannot show questions');
  });
});
