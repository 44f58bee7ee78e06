import { type FeedPosition, parseFeedPosition, type UnknownEvent } from '@parley/core/domain/events';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import { describe, expect, it } from 'vitest';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { createDetachmentScan } from '../../../services/api/src/turns/detachment.ts';
import type { ReplayFacts } from '../../../services/api/src/turns/replay.ts';
import { createSupersededScan } from '../../../services/api/src/turns/superseded.ts';
import { chunksOf, completionEncoder, encodeAll } from '../../harness/turns/read.ts';
import { asked, feed, finished, question, say, started, step } from '../../harness/turns/turns.ts';

const detached = { type: 'turn-detached' } as const;
const attached = { type: 'turn-attached' } as const;
const WAITING = {
  type: 'finish',
  finishReason: 'other',
  messageMetadata: { parley: { state: 'waiting' } },
};

const open = asked(question('q', 'pending'));
const ended = asked(question('q', 'accepted'));
const BEFORE = [started, step(0), say('b', 'Well. '), open, detached];

/** What a reader knows that comes when the feed is as long as this, and the turn waits or does not. */
function facts(items: readonly WatchItem[], waits: boolean): ReplayFacts {
  const scan = createDetachmentScan();
  for (const item of items) {
    const position = item.type === 'reset' ? undefined : parseFeedPosition(item.id);
    if (position === undefined) continue;
    const event = item.type === 'other' ? item.event : { type: 'of-a-question' };
    scan.see({ position, event: event as UnknownEvent });
  }
  const { until, mayWait } = scan;
  const superseded = createSupersededScan();
  return { superseded, ...(until !== undefined && { detachment: { until, isWaiting: mayWait && waits } }) };
}

/** The last chunk of a reader that comes when the feed has `count` items, and how its stream ends. */
function read(items: readonly WatchItem[], count: number, waits = false, after?: number) {
  const position = after === undefined ? undefined : at(items, after);
  const reader = { facts: facts(items.slice(0, count), waits), after: position };
  const sent = encodeAll(createAiSdkEncoder(position), items, reader);
  const chunks = chunksOf(sent);
  return { last: chunks.at(-1), count: chunks.length, next: sent.next };
}

function at(items: readonly WatchItem[], index: number): FeedPosition {
  const item = items[index];
  const position = item === undefined || item.type === 'reset' ? undefined : parseFeedPosition(item.id);
  if (position === undefined) throw new Error('There is no such item.');
  return position;
}

describe('a reader of a detached turn', () => {
  const whole = feed([...BEFORE, ended, attached, say('b', 'Green.'), finished]);

  it('that began it ends at the detachment', () => {
    const sent = encodeAll(createAiSdkEncoder(), whole);
    expect([chunksOf(sent).at(-1), sent.next]).toEqual([WAITING, 'end']);
  });

  it('that connects during the wait gets all events so far and ends', () => {
    expect(read(whole, BEFORE.length, true)).toMatchObject({ last: WAITING, next: 'end' });
    const opened = feed([...BEFORE, asked(question('q', 'opened')), ended, attached, finished]);
    const { last, count } = read(opened, BEFORE.length + 1, true);
    expect([last, count]).toEqual([WAITING, read(whole, BEFORE.length, true).count + 1]);
  });

  it('that reconnects with the id of its end during the wait gets only that end again', () => {
    expect(read(whole, BEFORE.length, true, BEFORE.length - 1)).toEqual({
      last: WAITING,
      count: 1,
      next: 'end',
    });
  });

  it('that connects after a question ended stays until the end, and gets an event that the wait is over', () => {
    for (let count = BEFORE.length; count <= whole.length; count += 1) {
      expect(read(whole, count)).toMatchObject({
        last: { type: 'finish', finishReason: 'stop', messageMetadata: { parley: { state: 'finished' } } },
        next: 'end',
      });
    }
  });

  it('ends at a later wait, but not at one that was over when it connected', () => {
    const twice = feed([...BEFORE, ended, attached, say('b', 'And? '), detached]);
    expect(read(twice, BEFORE.length + 1)).toMatchObject({ last: WAITING, next: 'end' });
    expect(read(twice, twice.length, true)).toMatchObject({ last: WAITING, next: 'end' });
    const more = feed([...BEFORE, ended, attached, say('b', 'And? '), detached, ended, attached, finished]);
    expect(read(more, more.length).last).toMatchObject({ finishReason: 'stop' });
  });

  it('stays where the turn is resumed by itself, also when it connects while nobody has the turn', () => {
    const rest = { ...detached, continues: true } as const;
    const rests = feed([started, step(0), say('b', 'Well. '), rest]);
    expect(encodeAll(createAiSdkEncoder(), rests).next).toBe('more');
    expect(read(rests, 4, true).next).toBe('more');
    expect(read(feed([started, step(0), rest, attached, finished]), 3).last).not.toHaveProperty(
      'messageMetadata',
    );
  });

  it('in the OpenAI format stays, unless it requested to end there', () => {
    const head = { model: 'helper', created: 1, nonce: 'nonce', usage: false, steps: 'live' } as const;
    expect(encodeAll(completionEncoder(head), feed(BEFORE)).next).toBe('more');
    const sent = encodeAll(completionEncoder({ ...head, detaches: true }), feed(BEFORE));
    expect(sent.next).toBe('end');
    expect(chunksOf(sent).at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
  });
});
