import { ParleyError } from '@parley/core/domain/errors';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { Runs, RunText, RunWrite, WriteResult } from '@parley/shared/ports/runs/runs';
import { createRunWriter } from '@parley/shared/runs/write';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const RUN = { tenant: 't', userId: 'ada', streamRequestId: 'sr_1', conversationId: 'c1' };

/** A writer, and what it published and wrote. */
function setUp(
  publish: () => Promise<Awaited<ReturnType<Runs['publish']>>> = async () => 'written',
  writeMs = 0,
) {
  const published: RunText[] = [];
  const written: RunWrite[] = [];
  const writer = createRunWriter({
    run: RUN,
    term: 1,
    writerSeq: 1,
    runs: {
      read: () => Promise.reject(new Error('not needed')),
      write: async (_run, write): Promise<WriteResult> => {
        written.push(write);
        if (writeMs > 0) await new Promise((resolve) => setTimeout(resolve, writeMs));
        return 'written';
      },
      publish: async (_run, text) => {
        published.push(text);
        return publish();
      },
    },
  });
  const events = () => written.flatMap((write) => write.events as TurnEvent[]);
  return { writer, published, written, events, say: (text: string) => writer.append(say(text)) };
}

const say = (text: string): TurnEvent => ({ type: 'text-delta', block: 'b', text });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it('a word goes out at once, words within 25 ms together, and the feed gets them in larger pieces', async () => {
  const { published, written, events, say: speak } = setUp();
  for (const word of ['a ', 'b ', 'c ']) {
    await speak(word);
    await pass(8);
  }
  expect(published.map(({ offset, text }) => [offset, text])).toEqual([[0, 'a ']]);
  await pass(10);
  expect(published.map(({ offset, text }) => [offset, text])).toEqual([
    [0, 'a '],
    [2, 'b c '],
  ]);
  expect(written).toEqual([]);
  await pass(500);
  expect(events()).toEqual([say('a b c ')]);
  await speak('d');
  await pass(0);
  expect(published.at(-1)).toMatchObject({ writerSeq: 2, offset: 0, text: 'd' });
});

it('a second of text costs two writes', async () => {
  const { published, written, say: speak } = setUp();
  for (let word = 0; word < 30; word += 1) {
    await speak('word ');
    await pass(33);
  }
  await pass(500);
  expect(published.length).toBeGreaterThanOrEqual(28);
  expect(written.length).toBeLessThanOrEqual(3);
});

it('text costs no more writes when each of them takes longer than a word', async () => {
  const { published, written, say: speak } = setUp(async () => 'written', 40);
  for (let word = 0; word < 60; word += 1) {
    await speak(`${word} `);
    await pass(33);
  }
  await pass(600);
  expect(written.length).toBeLessThanOrEqual(5);
  // What arrives during a write goes out when it ends.
  expect(published.map(({ text }) => text).join('')).toContain(' 18 19 ');
  expect(
    written
      .flatMap(({ events }) => events)
      .map((event) => 'text' in event && event.text)
      .join(''),
  ).toBe(Array.from({ length: 60 }, (_, word) => `${word} `).join(''));
});

it('text behind another event is written with it, and not published before', async () => {
  const { writer, published, events, say: speak } = setUp();
  await writer.append({ type: 'step-started', step: 0 });
  await speak('a');
  await pass(30);
  expect(published).toEqual([]);
  expect(events()).toEqual([{ type: 'step-started', step: 0 }, say('a')]);
});

it('text that could not be published is written at once', async () => {
  const { events, say: speak } = setUp(() => Promise.reject(new ParleyError('unavailable', 'away')));
  await speak('a');
  await pass(1);
  expect(events()).toEqual([say('a')]);
});

it('large text is written at once, and a stop or a new owner is learnt from what is published', async () => {
  const { events, say: speak } = setUp();
  await speak('x'.repeat(5_000));
  await pass(1);
  expect(events()).toEqual([say('x'.repeat(5_000))]);
  const stopping = setUp(async () => 'stopping');
  await stopping.say('a');
  await pass(1);
  expect(stopping.writer.stopped.aborted).toBe(true);
  const fenced = setUp(async () => 'fenced');
  await fenced.say('a');
  await pass(1);
  expect(fenced.written).toHaveLength(1);
});
