import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Finished } from '../../../services/api/src/turns/buffered.ts';
import { completionOf } from '../../../services/api/src/turns/completion.ts';
import { collected } from '../../harness/turns/read.ts';
import {
  approval,
  CANARY,
  decided,
  feed,
  finished,
  restart,
  said,
  say,
  started,
  step,
  stories,
} from '../../harness/turns/turns.ts';

it.each([
  [
    'approved',
    { type: 'tool-returned', output: 'paid' },
    { state: 'output-available', approval: { id: 'ap_1', approved: true } },
  ],
  [
    'edited',
    { type: 'tool-returned', output: 'paid' },
    { state: 'output-available', approval: { id: 'ap_1', approved: true } },
  ],
  [
    'denied',
    { type: 'tool-failed', message: 'Denied.' },
    { state: 'output-denied', approval: { id: 'ap_1', approved: false } },
  ],
  [
    'expired',
    { type: 'tool-failed', message: 'Nobody decided.' },
    { state: 'output-error', errorText: 'Nobody decided.' },
  ],
] as const)('keeps an approval that was %s, also where its step started again', (status, end, kept) => {
  const call = { type: 'tool-called', toolCallId: 't1', toolName: 'pay', input: { amount: 7 } } as const;
  const pending = approval();
  const over = approval(status);
  const turn = collected(
    feed([started, step(0), call, decided(pending), decided(over), restart(0), step(0), call]),
  );
  const waiting = collected(feed([started, step(0), call, decided(pending)]));
  const ended = collected(
    feed([
      ...[started, step(0), call, decided(pending), decided(over), restart(0), step(0), call],
      { ...end, toolCallId: 't1' } as TurnEvent,
      finished,
    ]),
  );
  const toolOf = ({ message }: typeof turn) => message().parts.find(({ type }) => type === 'dynamic-tool');
  expect(toolOf(waiting)).toMatchObject({ state: 'approval-requested', approval: { id: 'ap_1' } });
  expect(toolOf(ended)).toMatchObject(kept);
  expect('approval' in (toolOf(ended) ?? {})).toBe('approval' in kept);
  const cards = ended.message().parts.filter(({ type }) => type === 'data-approval-request');
  expect(cards).toMatchObject([{ id: 'ap_1', data: { v: 1, status, arguments: { amount: 7 } } }]);
  expect(turn.outcome).toBeUndefined();
});

it('converts the turn to a completion', () => {
  const end: Finished = {
    type: 'turn-finished',
    reason: 'length',
    usage: { inputTokens: 5, outputTokens: 2 },
  };
  const turn = collected(feed([started, say('a', 'One.'), said('a'), say('b', 'Two.'), end]));
  const whole = { ...end, messageId: turn.message().id, text: turn.text() };
  expect(completionOf(whole, { model: 'helper', created: 1_760_000_000 })).toEqual({
    id: 'chatcmpl-msg_1',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: 'helper',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'One.\n\nTwo.', refusal: null },
        logprobs: null,
        finish_reason: 'length',
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  });
});

it('reports how a turn failed, and keeps its text', () => {
  const failure = { type: 'turn-failed', code: 'model_failed', message: 'Away.' } as const;
  const turn = collected(feed([started, say('a', 'So far.'), failure]));
  expect(turn.outcome).toEqual(failure);
  expect(turn.text()).toBe('So far.');
});

it('has no outcome before the end', () => {
  const turn = collected(feed([started, say('a', 'x')]));
  expect(turn.outcome).toBeUndefined();
});

it('removes text that a restart or a lost feed supersedes', () => {
  const appended = [started, step(0), say('a', 'void'), restart(0), step(0), say('b', 'kept'), finished];
  expect(collected(feed(appended)).text()).toBe('kept');
  const lost: WatchItem[] = [
    ...feed([started, say('a', 'void')]),
    { type: 'reset' },
    ...feed(appended, '18'),
  ];
  expect(collected(lost).text()).toBe('kept');
});

it('any sequence of events gives the text that is not superseded, and no answer', () => {
  fc.assert(
    fc.property(stories({ restarts: true }), (story) => {
      const turn = collected(story.items);
      const { parts } = turn.message();
      const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      const tools = parts.flatMap((part) =>
        part.type === 'dynamic-tool' ? [{ id: part.toolCallId, state: part.state }] : [],
      );
      const questions = parts.flatMap((part) => (part.type === 'data-elicitation-request' ? [part.id] : []));
      expect(texts.toSorted()).toEqual(story.texts.toSorted());
      expect(tools).toEqual(expect.arrayContaining([...story.tools]));
      expect(tools).toHaveLength(story.tools.length);
      expect(questions.toSorted()).toEqual(story.questions.toSorted());
      expect(turn.outcome).toEqual(story.ending);
      expect(JSON.stringify(turn.message())).not.toContain(CANARY);
    }),
  );
});
