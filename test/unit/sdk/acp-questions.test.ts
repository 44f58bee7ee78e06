import type { Elicitation } from '@parley/sdk';
import { expect, it } from 'vitest';
import { createQuestions, type QuestionsDeps } from '../../../clients/cli/src/acp/questions.ts';

const pending = {
  elicitationId: 'el_1',
  status: 'pending',
  mode: 'form',
  title: 'Colour',
  message: 'Which colour?',
} as unknown as Elicitation;
const undelivered = { ...pending, status: 'withdrawn', reason: 'undeliverable' } as Elicitation;

function open() {
  const said: string[] = [];
  const questions = createQuestions({
    client: {} as QuestionsDeps['client'],
    parley: {} as QuestionsDeps['parley'],
    modes: { form: false, url: false },
    sessionId: 's',
    say: async (text) => void said.push(text),
    log: () => undefined,
  });
  return { questions, said };
}

const DEFAULT_COUNTS = 'so you were not asked. The agent continues with its own default.';

it('the text says that nobody was asked, whether or not the stream had the question open before', async () => {
  for (const states of [[undelivered], [pending, undelivered], [pending, undelivered, undelivered]]) {
    const { questions, said } = open();
    for (const state of states) await questions.see(state);
    expect(said[0]).toContain('**Colour:** Which colour?');
    expect(said.filter((text) => text.includes(DEFAULT_COUNTS))).toHaveLength(1);
    expect(said.at(-1)).toContain(DEFAULT_COUNTS);
  }
});

it('a question that stays open is described once, and its answer in another place says nothing', async () => {
  const { questions, said } = open();
  await questions.see(pending);
  await questions.see({ ...pending, status: 'accepted' } as Elicitation);
  expect(said).toEqual([expect.stringContaining('While it is open, it can be answered in the chat')]);
});
