/** The stock clients read what the encoders write. */
import type { WatchItem } from '@parley/shared/elicitations/watch';
import { convertToModelMessages, validateUIMessages } from 'ai';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import type { BufferedMessage, Finished } from '../../../services/api/src/turns/buffered.ts';
import { completionOf } from '../../../services/api/src/turns/completion.ts';
import { sized } from '../../harness/proof-size.ts';
import {
  type ChunkOptions,
  collected,
  completionEncoder,
  encodeAll,
  replaying,
} from '../../harness/turns/read.ts';
import {
  asked,
  feed,
  finished,
  question,
  said,
  say,
  started,
  step,
  stepEnd,
  stories,
} from '../../harness/turns/turns.ts';
import { openAiAt, openSite, type ReadMessage, readMessage, type Site } from './encoders-site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

const RUNS = { numRuns: sized(60, 20) };
const splits = fc.array(fc.nat(20_000), { maxLength: 6 });
const request = { model: 'helper', messages: [{ role: 'user' as const, content: 'Hi' }] };

function openAiBytes(items: readonly WatchItem[], options: Partial<ChunkOptions> = {}): string {
  const defaults = {
    model: 'helper',
    created: 1_760_000_000,
    nonce: undefined,
    usage: false,
    steps: 'live',
  } as const;
  return encodeAll(completionEncoder({ ...defaults, ...options }), items).bytes;
}

/** A round trip through JSON, because the client keeps keys without a value. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Without empty steps at the end: this reader reports a step only once it has content. */
function settled(message: ReadMessage['message'] | BufferedMessage): unknown {
  // Only a stream tells that the model thinks.
  const parts = (message?.parts ?? []).filter(({ type }) => type !== 'reasoning');
  while (parts.at(-1)?.type === 'step-start') parts.pop();
  return plain({ ...message, parts });
}

describe('the AI SDK', () => {
  it('builds from every turn the message that a buffered caller gets', async () => {
    await fc.assert(
      fc.asyncProperty(stories({ restarts: true }), splits, async ({ items, ending }, places) => {
        const sent = encodeAll(createAiSdkEncoder(), items, replaying(items));
        site.serve(sent.bytes, places);
        const { message, errors } = await readMessage(site.url);
        expect(errors).toEqual(ending.type === 'turn-failed' ? [ending.message.toWellFormed()] : []);
        expect(settled(message)).toEqual(settled(collected(items).message()));
      }),
      RUNS,
    );
  });

  it('reads a turn again that was replayed onto a partial message', async () => {
    const items = feed([started, step(0), say('a', 'Hello.'), asked(question('el_1')), finished]);
    const half = encodeAll(createAiSdkEncoder(), items.slice(0, 4));
    const whole = encodeAll(createAiSdkEncoder(), items);
    site.serve(half.bytes + whole.bytes);
    const { errors } = await readMessage(site.url);
    expect(errors).toEqual([]);
  });

  it('accepts a buffered message as history, without its questions', async () => {
    const message = collected(
      feed([started, step(0), say('a', 'Hello.'), said('a'), asked(question('el_1')), stepEnd(0), finished]),
    ).message();
    const [checked] = await validateUIMessages({ messages: [message] });
    expect(checked === undefined ? [] : await convertToModelMessages([checked])).toEqual([
      { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
    ]);
  });
});

describe('the OpenAI client', () => {
  it('reads the text of every turn, or throws its error', async () => {
    const turns = fc.oneof(
      fc.record({ story: stories({ restarts: false }), steps: fc.constant('live' as const) }),
      fc.record({ story: stories({ restarts: true }), steps: fc.constant('buffered' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(turns, fc.boolean(), splits, async ({ story, steps }, usage, places) => {
        site.serve(openAiBytes(story.items, { steps, usage }), places);
        let text = '';
        let finish: string | null = null;
        const reading = (async () => {
          const stream = await openAiAt(site.url).chat.completions.create({ ...request, stream: true });
          for await (const chunk of stream) {
            text += chunk.choices[0]?.delta.content ?? '';
            finish ??= chunk.choices[0]?.finish_reason ?? null;
          }
        })();
        if (story.ending.type === 'turn-failed') {
          await expect(reading).rejects.toMatchObject({ code: 'model_failed', type: 'server_error' });
        } else {
          await reading;
          expect(finish).toMatch(/^(?:stop|length|content_filter)$/);
        }
        const characters = (of: string) => [...of.replaceAll('\n', '')].toSorted().join('');
        expect(characters(text)).toBe(characters(story.texts.join('')));
      }),
      RUNS,
    );
  });

  it('assembles a stream to the same result as a buffered call', async () => {
    const end: Finished = { ...finished, type: 'turn-finished', reason: 'stop', usage: { inputTokens: 5 } };
    const items = feed([started, say('a', 'One.'), said('a'), say('b', 'Two.'), end]);
    site.serve(openAiBytes(items, { usage: true }));
    const streamed = await openAiAt(site.url).chat.completions.stream(request).finalChatCompletion();
    const head = { model: 'helper', created: 1_760_000_000 };
    const turn = collected(items);
    const whole = { ...end, messageId: turn.message().id, text: turn.text() };
    expect(plain(streamed)).toMatchObject(plain(completionOf(whole, head)) as object);
  });
});
