import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NO_LINE, type Script } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import type {
  ScriptedModel,
  ScriptedModelOptions,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startModel, stopModelsAfterEach } from './scripted-model-setup.ts';

stopModelsAfterEach();

const start = (options: Partial<ScriptedModelOptions> = {}) => startModel({ script: SCRIPT, ...options });

/** Looks up two cities in parallel if tools are allowed, then reports the results. */
const SCRIPT: Script = [
  ({ results }) =>
    results.length > 0 ? { text: results.map(({ name, text }) => `${name}: ${text}`).join('; ') } : undefined,
  ({ userText, tools }) =>
    userText.includes('weather') && tools.some(({ name }) => name === 'weather')
      ? {
          text: 'Let me look.',
          calls: ['Zürich', 'Ōsaka 🌧'].map((city) => ({ name: 'weather', arguments: { city } })),
        }
      : undefined,
  ({ userText }) => (userText === 'Hello' ? { text: 'Good day to you.' } : undefined),
];

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

const hello = { model: 'any', messages: [{ role: 'user' as const, content: 'Hello' }] };
const weather = {
  model: 'any',
  messages: [{ role: 'user' as const, content: 'The weather, please' }],
  tools: [WEATHER],
};
const LOOKED_UP = [
  { name: 'weather', arguments: '{"city":"Zürich"}' },
  { name: 'weather', arguments: '{"city":"Ōsaka 🌧"}' },
];

async function bytesOf(model: ScriptedModel, body: object): Promise<string> {
  const response = await fetch(`${model.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.text();
}

describe('the scripted model, with the client of OpenAI', () => {
  it('replies unstreamed, under the name of scripted', async () => {
    const { client } = await start();
    const completion = await client.chat.completions.create(hello);
    expect(completion.model).toBe('scripted');
    expect(completion.choices).toMatchObject([
      { message: { role: 'assistant', content: 'Good day to you.' }, finish_reason: 'stop' },
    ]);
    expect(completion.usage).toEqual({ prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 });
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['scripted']);
  });

  it('streams the same text in pieces, and usage in the last chunk for those who ask', async () => {
    const { model, client } = await start({ delayMs: 1 });
    const stream = await client.chat.completions.create({
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const texts = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').filter((text) => text !== '');
    expect(texts).toEqual(['Good ', 'day ', 'to ', 'you.']);
    expect(chunks.map(({ usage }) => usage?.total_tokens)).toEqual([
      ...chunks.slice(1).map(() => undefined),
      5,
    ]);
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    const bytes = await bytesOf(model, { ...hello, stream: true });
    expect(bytes.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(bytes).not.toContain('usage');
  });

  it('makes parallel tool calls whose arguments come in pieces', async () => {
    const { client } = await start();
    const stream = client.chat.completions.stream(weather);
    const pieces: string[] = [];
    stream.on('chunk', ({ choices }) => {
      for (const call of choices[0]?.delta.tool_calls ?? []) pieces.push(call.function?.arguments ?? '');
    });
    const streamed = (await stream.finalChatCompletion()).choices[0];
    const whole = (await client.chat.completions.create(weather)).choices[0];
    for (const choice of [streamed, whole]) {
      expect(choice?.finish_reason).toBe('tool_calls');
      expect(choice?.message.content).toBe('Let me look.');
      const calls = choice?.message.tool_calls?.flatMap((call) => (call.type === 'function' ? [call] : []));
      expect(
        calls?.map((call) => ({ name: call.function.name, arguments: call.function.arguments })),
      ).toEqual(LOOKED_UP);
      expect(new Set(calls?.map(({ id }) => id)).size).toBe(2);
    }
    expect(pieces.length).toBeGreaterThan(6);
    expect(pieces.filter((piece) => piece !== '').every((piece) => piece.length < 10)).toBe(true);
  });

  it('continues when the tool results are sent', async () => {
    const { model, client } = await start();
    const runner = client.chat.completions.runTools({
      ...weather,
      tools: [
        {
          type: 'function',
          function: {
            ...WEATHER.function,
            parse: (text: string) => z.object({ city: z.string() }).parse(JSON.parse(text)),
            function: ({ city }: { city: string }) => `rain in ${city}`,
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('weather: rain in Zürich; weather: rain in Ōsaka 🌧');
    expect(model.requests.map(({ body }) => body.messages.map(({ role }) => role))).toEqual([
      ['user'],
      ['user', 'assistant', 'tool', 'tool'],
    ]);
    await waitUntil(() => model.requests.every(({ outcome }) => outcome === 'replied'), { what: 'the ends' });
  });

  it('is deterministic for equal requests, and gives other requests other ids', async () => {
    const { model } = await start();
    const stream = { ...weather, stream: true };
    const first = await bytesOf(model, stream);
    expect(await bytesOf(model, stream)).toBe(first);
    const other = { ...stream, messages: [{ role: 'user', content: 'The weather again' }] };
    const ids = (bytes: string) => new Set(bytes.match(/call_\w+/g));
    const others = ids(await bytesOf(model, other));
    expect([...ids(first)].filter((id) => others.has(id))).toEqual([]);
  });

  it('reports when its script has no line, and passes no tools to it under tool_choice none', async () => {
    const { client } = await start();
    const completion = await client.chat.completions.create({ ...weather, tool_choice: 'none' });
    expect(completion.choices[0]?.message.content).toBe(NO_LINE);
  });

  it('reports the error of a script that fails', async () => {
    const { client } = await start({
      script: [
        () => {
          throw new Error('lost the thread');
        },
      ],
    });
    const failed = await client.chat.completions.create(hello).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(OpenAI.InternalServerError);
    expect(String(failed)).toContain('lost the thread');
  });

  it('listens on the given port, and again after a stop', async () => {
    const { model } = await start();
    const port = Number(new URL(model.url).port);
    await model.stop();
    const { model: again, client } = await start({ port });
    expect(again.url).toBe(model.url);
    expect((await client.models.list()).data).toHaveLength(1);
  });

  it('ends at the limit of tokens', async () => {
    const { client } = await start();
    const completion = await client.chat.completions.create({ ...hello, max_completion_tokens: 2 });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'Good day ' },
    });
  });
});

describe('what the scripted model refuses', () => {
  it('a wrong key, without repeating it', async () => {
    const { model } = await start({ apiKey: 'right' });
    const client = new OpenAI({ baseURL: model.url, apiKey: 'wrong-key', maxRetries: 0 });
    const failed = await client.chat.completions.create(hello).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(failed).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(String(failed)).not.toContain('wrong-key');
    expect(model.requests).toEqual([]);
  });

  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const user = { role: 'user', content: 'Hello' };
  const assistant = { role: 'assistant', content: null, tool_calls: [call] };
  const BAD: [string, object][] = [
    ['a call without its result', { messages: [user, assistant, user] }],
    ['a call without its result, at the end', { messages: [user, assistant] }],
    ['a result without its call', { messages: [user, { role: 'tool', tool_call_id: 'c1', content: 'x' }] }],
    [
      'a result given twice',
      {
        messages: [
          user,
          assistant,
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
          { role: 'tool', tool_call_id: 'c1', content: 'x' },
        ],
      },
    ],
    [
      'a result that comes too late',
      { messages: [user, assistant, user, { role: 'tool', tool_call_id: 'c1', content: 'x' }] },
    ],
    ['an assistant that says nothing', { messages: [user, { role: 'assistant', content: null }] }],
    ['empty content parts', { messages: [{ role: 'user', content: [] }] }],
    ['no messages', { messages: [] }],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }],
    [
      'a tool name with a dot',
      { messages: [user], tools: [{ type: 'function', function: { name: 'a.b' } }] },
    ],
    ['a tool offered twice', { messages: [user], tools: [WEATHER, WEATHER] }],
  ];
  it.each(BAD)('%s', async (_, body) => {
    const { model, client } = await start();
    const failed = await client.chat.completions
      .create({ ...hello, ...body })
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failed).toMatchObject({ type: 'invalid_request_error' });
    expect(model.requests).toEqual([]);
  });

  it('what is no JSON, and paths it does not know', async () => {
    const { model } = await start();
    const torn = await fetch(`${model.url}/chat/completions`, { method: 'POST', body: '{"model"' });
    expect([torn.status, await torn.json()]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error' } },
    ]);
    const unknown = await fetch(`${model.url}/embeddings`, { method: 'POST', body: '{}' });
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: 'unknown_url' } }]);
  });
});
