/** The Responses format, as stock clients use it, and both formats of OpenAI as LangChain does. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAiReader } from '@parley/sdk/openai';
import { generateText, type ModelMessage, streamText } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { ModelFault } from '../../../stand-ins/scripted-model/faults.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';
import { openDoors } from './chat-doors.ts';
import { langChainLike } from './langchain.ts';

const model = modelOf(
  ({ userText, results }) => {
    if (userText === 'ask' && results.length === 0) return { text: 'A moment.', calls: [SURE] };
    return { text: userText === 'ask' ? 'Asked.' : `Heard ${userText}.` };
  },
  {
    fault: ({ body }) => FAULTS[String(body.messages.at(-1)?.content)],
  },
);
const FAULTS: Readonly<Record<string, ModelFault>> = {
  reject: { kind: 'refuse', status: 400 },
  'stop me': { kind: 'hang', afterChunks: 2 },
  'cut me': { kind: 'error', afterChunks: 2 },
};
const heard = () => model.current.requests.at(-1)?.body.messages.map(({ content }) => content);
const helper = { model: 'helper' } as const;
const reference = (id: string) => ({ type: 'item_reference' as const, id });
const itemOf = ({ output }: OpenAI.Responses.Response) => reference(output[0]?.id ?? '');
const two = { role: 'user' as const, content: 'two' };
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const withoutPrevious = ({
  previous_response_id: _,
  output_text: __,
  ...response
}: OpenAI.Responses.Response) => response;

describe('the client of OpenAI', () => {
  it('gets a response, reads it again, and goes on from it in a conversation that is in no list', async () => {
    const { openAi, call } = await openDoors(worldOn(model));
    const first = await openAi.responses.create({ ...helper, input: 'one' });
    expect(first).toMatchObject({ status: 'completed', output_text: 'Heard one.', error: null });
    const second = await openAi.responses.create({
      ...helper,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'two' }] }],
      previous_response_id: first.id,
    });
    expect(second).toMatchObject({ previous_response_id: first.id, conversation: first.conversation });
    expect(heard()).toEqual(['helper', 'one', 'Heard one.', 'two']);
    const read = await openAi.responses.retrieve(second.id);
    expect(withoutPrevious(read)).toEqual({
      ...withoutPrevious(second),
      created_at: expect.closeTo(second.created_at, -1),
    });
    expect((await call('GET', '/run/api/chats')).body).toEqual({ conversations: [] });
  });

  it('streams a response in a conversation, which is in the list', async () => {
    const { openAi, call, reloaded } = await openDoors(worldOn(model));
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const stream = openAi.responses.stream({ ...helper, input: 'one', conversation: 'c1' });
    stream.on('event', (event) => void events.push(event));
    const final = await stream.finalResponse();
    expect(final).toMatchObject({
      status: 'completed',
      output_text: 'Heard one.',
      conversation: { id: 'c1' },
    });
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
    expect(
      events.map(({ type }) => type.replace('response.', '')).filter((type) => !/delta/.test(type)),
    ).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect((await call('GET', '/run/api/chats')).body.conversations).toMatchObject([
      { conversationId: 'c1' },
    ]);
    expect(await reloaded('c1')).toHaveLength(2);
  });

  it('shows questions in envelopes, which are no part of the text once it is done', async () => {
    const world = worldOn(model);
    const { openAi } = await openDoors(world);
    const stream = await openAi.responses.create(
      { ...helper, input: 'ask', stream: true },
      { headers: { 'x-supports-elicitation': 'true' } },
    );
    const read = createOpenAiReader();
    const texts: string[] = [];
    let done: string | undefined;
    let id = '';
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.completed') done = event.response.output_text ?? textIn(event.response);
      for (const part of read(event)) {
        if (part.type === 'text') texts.push(part.text);
        if (part.type !== 'elicitation-request') continue;
        expect(await openAi.responses.retrieve(id)).toMatchObject({ status: 'in_progress', output: [] });
        await world.answer(part.elicitation.elicitationId, 'accept', true);
      }
    }
    expect(texts.join('')).toBe('A moment.\n\nAsked.');
    expect(done).toBe(texts.join(''));
  });

  it.each([
    ['reject', 'failed', undefined, ''],
    ['cut me', 'failed', undefined, 'Heard '],
    ['stop me', 'incomplete', 'stopped', 'Heard '],
    ['ask', 'incomplete', 'waiting', 'A moment.'],
  ])(
    'is told that a turn is not complete, and reads again what it had said: %s',
    async (input, status, reason, text) => {
      const { openAi, call } = await openDoors(worldOn(model));
      const headers = { 'x-supports-elicitation': 'true', 'x-parley-delivery': 'detach' };
      const body = { ...helper, input, conversation: 'c1', stream: true } as const;
      let last: OpenAI.Responses.ResponseStreamEvent | undefined;
      for await (const event of await openAi.responses.create(body, { headers })) {
        last = event;
        if (input === 'stop me' && event.type === 'response.output_text.delta')
          await call('POST', '/run/api/chat/c1/stop');
      }
      if (last === undefined || !('response' in last)) throw new Error(`The last event is ${last?.type}.`);
      const { id, error, incomplete_details: details } = last.response;
      expect([last.type, last.response.status, textIn(last.response)]).toEqual([
        `response.${status}`,
        status,
        text,
      ]);
      expect([error?.code, details?.reason]).toEqual([
        status === 'failed' ? 'model_unavailable' : undefined,
        reason,
      ]);
      const read = await openAi.responses.retrieve(id);
      expect([read.status, textIn(read)]).toEqual(
        reason === 'waiting' ? ['in_progress', ''] : [status, text],
      );
    },
  );

  it('refers to a reply as often as it likes, which is read once, and to many one after the other', async () => {
    const world = worldOn(model);
    const { runs } = world.backend;
    const watched: string[] = [];
    const reads: string[] = [];
    let running = 0;
    let together = 0;
    const counted: typeof runs = {
      ...runs,
      async read(stream) {
        if (!watched.includes(stream.streamRequestId)) return runs.read(stream);
        reads.push(stream.streamRequestId);
        running += 1;
        together = Math.max(together, running);
        return runs.read(stream).finally(() => {
          running -= 1;
        });
      },
    };
    const { openAi } = await openDoors(world, { runs: counted });
    const one = await openAi.responses.create({ ...helper, input: 'one' });
    const other = await openAi.responses.create({ ...helper, input: 'other' });
    watched.push(...[one, other].map(({ id }) => id.replace('resp_', 'sr_')));
    const items = Array.from({ length: 300 }, (_, at) => itemOf(at % 2 === 0 ? one : other));
    await openAi.responses.create({ ...helper, input: [...items, two] });
    expect([reads, together]).toEqual([watched, 1]);
    const long = await openAi.responses.create({ ...helper, input: 'x'.repeat(20_000) });
    const many = Array.from({ length: 60 }, () => itemOf(long));
    await expect(openAi.responses.create({ ...helper, input: [...many, two] })).rejects.toMatchObject({
      status: 400,
      param: 'input.52.id',
    });
  });

  it('reads a response as a whole, and learns that it is not streamed again', async () => {
    const { openAi } = await openDoors(worldOn(model));
    const { id } = await openAi.responses.create({ ...helper, input: 'one' });
    await expect(openAi.responses.retrieve(id, { stream: true })).rejects.toMatchObject({
      status: 400,
      param: 'stream',
    });
    expect(await openAi.responses.retrieve(id, { stream: false })).toMatchObject({ id });
  });

  const asks = { format: { type: 'json_schema', name: 'x', schema: {} } } as const;
  it.each<[string, object]>([
    ['tools', { tools: [{ type: 'web_search' }] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['instructions', { instructions: 'Be rude.' }],
    ['text.format.type', { text: asks }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'p' } }],
    ['previous_response_id', { previous_response_id: 'resp_unknown' }],
    ['previous_response_id', { previous_response_id: 'resp_unknown', conversation: 'c1' }],
    ['input.0.type', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
    ['input.0.id', { input: [{ type: 'item_reference', id: 'msg_unknown' }] }],
    ['input', { input: [{ role: 'assistant', content: 'x' }] }],
    ['input', { input: '' }],
    ['input', { input: [{ role: 'user', content: [] }] }],
    ['input.200.id', { input: Array.from({ length: 201 }, (_, at) => reference(`msg_${at}`)) }],
    ['input.0.role', { input: [{ role: 'system', content: 'Be rude.' }, two] }],
    [
      'input.1.role',
      { input: [two, { role: 'developer', content: [{ type: 'input_text', text: 'x' }] }, two] },
    ],
  ])('learns that %s cannot be what it sent', async (param, more) => {
    const { openAi } = await openDoors(worldOn(model));
    const sent = openAi.responses.create({ ...helper, input: 'one', ...more });
    await expect(sent).rejects.toMatchObject({ status: 400, param, type: 'invalid_request_error' });
  });

  it('goes on from the newest response only, and reads no response of another person', async () => {
    const { openAi, url } = await openDoors(worldOn(model));
    const first = await openAi.responses.create({ ...helper, input: 'one' });
    const from = { ...helper, previous_response_id: first.id };
    await openAi.responses.create({ ...from, input: 'two' });
    await expect(openAi.responses.create({ ...from, input: 'three' })).rejects.toMatchObject({ status: 400 });
    const last = await openAi.responses.create({ ...helper, input: 'one' });
    const again = () =>
      openAi.responses.create({ ...helper, input: 'two', previous_response_id: last.id }, keyed('key-1'));
    const [once, twice] = [await again(), await again()];
    expect(twice.id).toBe(once.id);
    await openAi.responses.create({ ...helper, input: 'three', previous_response_id: once.id });
    expect((await again()).id).toBe(once.id);
    // The response that it continued may have left before its own.
    const orphan = { ...helper, input: 'two', previous_response_id: 'resp_gone' };
    expect((await openAi.responses.create(orphan, keyed('key-1'))).id).toBe(once.id);
    const changed = { ...helper, input: 'four', previous_response_id: last.id };
    await expect(openAi.responses.create(changed, keyed('key-1'))).rejects.toMatchObject({ status: 409 });
    const other = new OpenAI({ baseURL: `${url}/run/v1`, apiKey: 'acme/another', maxRetries: 0 });
    await expect(other.responses.retrieve(first.id)).rejects.toMatchObject({
      status: 404,
      code: 'not_found',
    });
    await expect(other.responses.create({ ...from, input: 'two' })).rejects.toMatchObject({ status: 400 });
    await expect(openAi.responses.create({ model: 'nobody', input: 'x' })).rejects.toMatchObject({
      status: 404,
    });
  });
});

it('a system message of the AI SDK’s provider is refused in responses, and not read in chat completions', async () => {
  const { url, openAi } = await openDoors(worldOn(model));
  const provider = createOpenAI({ baseURL: `${url}/run/v1`, apiKey: openAi.apiKey ?? '' });
  const asked = { system: 'Be rude.', prompt: 'one', maxRetries: 0 };
  await expect(generateText({ ...asked, model: provider.responses('helper') })).rejects.toMatchObject({
    statusCode: 400,
    responseBody: expect.stringContaining('"input.0.role"'),
  });
  expect((await generateText({ ...asked, model: provider.chat('helper') })).text).toBe('Heard one.');
  expect(heard()).toEqual(['helper', 'one']);
});

it('the default model of the AI SDK’s provider for OpenAI talks, over several messages', async () => {
  const { url, openAi } = await openDoors(worldOn(model));
  const provider = createOpenAI({ baseURL: `${url}/run/v1`, apiKey: openAi.apiKey ?? '' });
  const messages: ModelMessage[] = [{ role: 'user', content: 'one' }];
  const first = await generateText({ model: provider('helper'), messages, maxRetries: 0 });
  expect([first.text, first.finishReason]).toEqual(['Heard one.', 'stop']);
  // It sends its reply as a reference to the item.
  messages.push(...first.response.messages, { role: 'user', content: 'two' });
  const second = streamText({ model: provider('helper'), messages, maxRetries: 0 });
  expect(await second.text).toBe('Heard two.');
  expect((await second.usage).outputTokens).toBeGreaterThan(0);
  expect(heard()).toEqual(['helper', 'one', 'Heard one.', 'two']);
});

describe('ChatOpenAI of LangChain', () => {
  it.each([
    ['chat completions', false],
    ['responses', true],
  ])('talks by %s, whole and streamed, in a conversation that is in no list', async (_, useResponsesApi) => {
    const { openAi, call } = await openDoors(worldOn(model));
    const chat = langChainLike(openAi, { ...helper, useResponsesApi });
    const first = await chat.invoke([['human', 'one']]);
    expect(first.text).toBe('Heard one.');
    expect(first.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
    const texts: string[] = [];
    for await (const piece of await chat.stream([['human', 'one'], first, ['human', 'two']]))
      texts.push(piece.text);
    expect(texts.join('')).toBe('Heard two.');
    expect(heard()).toEqual(['helper', 'one', 'Heard one.', 'two']);
    expect((await call('GET', '/run/api/chats')).body).toEqual({ conversations: [] });
    await expect(chat.invoke([['human', 'reject']])).rejects.toMatchObject({ status: 503 });
    const nobody = langChainLike(openAi, { model: 'nobody', useResponsesApi });
    await expect(nobody.invoke('one')).rejects.toMatchObject({ status: 404 });
  });
});

function textIn({ output }: OpenAI.Responses.Response): string {
  return output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}
