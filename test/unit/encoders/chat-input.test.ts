import { expect, it, test } from 'vitest';
import { answerIn } from '../../../services/api/src/surfaces/ai-sdk/chat-input.ts';
import type { ChatMessage } from '../../../services/api/src/turns/messages.ts';

const data = { elicitationId: 'el_1', action: 'accept' as const, content: { answer: '12A' } };
const answer = { type: 'data-elicitation-response', data };
const text = { type: 'text', text: 'And a window seat.' };
const asked: ChatMessage = { role: 'assistant', parts: [{ type: 'text', text: 'Which seat?' }] };

function answerOf(last: Omit<ChatMessage, 'role'>) {
  return answerIn([asked, { ...last, role: 'user' }]);
}

test.each([
  ['alone', { parts: [answer] }],
  ['beside unknown parts', { parts: [{ type: 'step-start' }, answer, { type: 'data-seen' }] }],
  ['beside text that is empty', { parts: [{ type: 'text', text: '' }, answer], content: '' }],
])('an answer %s is accepted', (_, last) => {
  expect(answerOf(last)).toEqual(data);
});

it('finds no answer in a text message', () => {
  expect(answerOf({ parts: [text] })).toBeUndefined();
});

test.each([
  ['a second answer', { parts: [answer, { ...answer, data: { ...data, elicitationId: 'el_2' } }] }, 'each'],
  ['text in a part', { parts: [answer, text] }, 'the answer and the text'],
  ['text in the content', { parts: [answer], content: 'And a window seat.' }, 'the answer and the text'],
])('an answer next to %s is refused with the remedy', (_, last, what) => {
  expect(() => answerOf(last)).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      message: expect.stringMatching(new RegExp(`^Send ${what}.* of (?:its|their) own\\.$`)),
      issues: [{ path: 'messages.1', message: expect.stringMatching(/^must hold (?:one answer|no text)$/) }],
    }),
  );
});
