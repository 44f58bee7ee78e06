import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ModelFault } from '../../../infra/demo/stand-ins/scripted-model/faults.ts';
import type { Script } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import type {
  ScriptedModel,
  ScriptedModelOptions,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startModel, stopModelsAfterEach } from './scripted-model-setup.ts';

stopModelsAfterEach();

const start = (options: Partial<ScriptedModelOptions> = {}) => startModel({ script: SCRIPT, ...options });

const SCRIPT: Script = [
  ({ results }) =>
    results.length > 0 ? { text: results.map(({ name, text }) => `${name}: ${text}`).join('; ') } : undefined,
  ({ userText }) => (userText === 'Hello' ? { text: 'Good day to you.' } : undefined),
  ({ userText }) =>
    userText === 'Break' ? { calls: [{ name: 'weather', arguments: '{"city": "Zür' }] } : undefined,
  () => ({ calls: ['Zürich', 'Ōsaka'].map((city) => ({ name: 'weather', arguments: { city } })) }),
];

const hello = { model: 'any', messages: [{ role: 'user' as const, content: 'Hello' }] };

describe('faults of the scripted model', () => {
  const once = (fault: ModelFault) => {
    const faults = [fault];
    return () => faults.shift();
  };

  it('refuses once, and the client tries again', async () => {
    for (const status of [429, 500, 503]) {
      const { model, client } = await start({
        fault: once({ kind: 'refuse', status, retryAfterSeconds: 0 }),
      });
      const completion = await client.chat.completions.create(hello, { maxRetries: 1 });
      expect(completion.choices[0]?.message.content).toBe('Good day to you.');
      expect(model.requests.map(({ outcome }) => outcome)[0]).toBe('broken');
      expect(model.requests).toHaveLength(2);
    }
  });

  it('refuses with errors that the client recognises as a rate limit or an outage', async () => {
    const { client } = await start({ fault: ({ body }) => ({ kind: 'refuse', status: Number(body.model) }) });
    await expect(client.chat.completions.create({ ...hello, model: '429' })).rejects.toBeInstanceOf(
      OpenAI.RateLimitError,
    );
    await expect(client.chat.completions.create({ ...hello, model: '500' })).rejects.toBeInstanceOf(
      OpenAI.InternalServerError,
    );
  });

  const readAll = async (client: OpenAI) => {
    const texts: string[] = [];
    const stream = await client.chat.completions.create({ ...hello, stream: true });
    const failed = await (async () => {
      for await (const { choices } of stream) texts.push(choices[0]?.delta.content ?? '');
    })().catch((error: unknown) => error);
    return { text: texts.join(''), failed };
  };

  it.each(['cut', 'malformed', 'error'] as const)('%s in the middle of a stream', async (kind) => {
    const { model, client } = await start({ fault: once({ kind, afterChunks: 3 }) });
    const { text, failed } = await readAll(client);
    expect(text).toBe('Good day ');
    expect(failed).toBeInstanceOf(Error);
    await waitUntil(() => model.requests[0]?.outcome === 'broken', { what: 'the outcome' });
    expect(await readAll(client)).toEqual({ text: 'Good day to you.', failed: undefined });
  });

  it('ends a stream too early, which this client treats as its end', async () => {
    const { client } = await start({ fault: once({ kind: 'end', afterChunks: 3 }) });
    expect(await readAll(client)).toEqual({ text: 'Good day ', failed: undefined });
  });

  it.each(['cut', 'end', 'malformed', 'error'] as const)('%s in a whole reply', async (kind) => {
    const { client } = await start({ fault: once({ kind }) });
    await expect(client.chat.completions.create(hello)).rejects.toBeInstanceOf(Error);
    await expect(client.chat.completions.create(hello)).resolves.toMatchObject({ model: 'scripted' });
  });

  it('hangs until the caller disconnects, and notices the disconnect', async () => {
    const { model, client } = await start({
      fault: ({ body }) => ({ kind: 'hang', ...(body.stream === true && { afterChunks: 2 }) }),
    });
    const leave = new AbortController();
    const whole = client.chat.completions.create(hello, { signal: leave.signal });
    const stream = await client.chat.completions.create({ ...hello, stream: true }, { signal: leave.signal });
    const texts: string[] = [];
    const reading = (async () => {
      for await (const { choices } of stream) texts.push(choices[0]?.delta.content ?? '');
    })();
    await waitUntil(() => texts.join('') === 'Good ', { what: 'the first word' });
    await waitUntil(() => model.requests.length === 2, { what: 'both requests' });
    expect(model.requests.map(({ outcome }) => outcome)).toEqual(['running', 'running']);
    leave.abort();
    await expect(whole).rejects.toBeInstanceOf(OpenAI.APIUserAbortError);
    await reading;
    await waitUntil(() => model.requests.every(({ outcome }) => outcome === 'disconnected'), {
      what: 'the outcomes',
    });
  });

  it('stops while a reply hangs', async () => {
    const { model, client } = await start({ fault: () => ({ kind: 'hang' }) });
    const asked = client.chat.completions.create(hello).catch((error: unknown) => error);
    await waitUntil(() => model.requests.length === 1, { what: 'the request' });
    await model.stop();
    expect(await asked).toBeInstanceOf(OpenAI.APIConnectionError);
  });
});

describe('the scripted model, with the AI SDK', () => {
  const providerAt = ({ url }: ScriptedModel) =>
    createOpenAICompatible({ name: 'scripted', baseURL: url, includeUsage: true })('any');
  const tools = {
    weather: tool({
      description: 'Tells the weather.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => {
        if (city !== 'Zürich') throw new Error(`no station in ${city}`);
        return 'rain';
      },
    }),
  };

  it('streams a turn of two steps with parallel tool calls, one of which fails', async () => {
    const { model } = await start();
    const turn = streamText({
      model: providerAt(model),
      tools,
      prompt: 'The weather, please',
      stopWhen: stepCountIs(5),
      maxRetries: 0,
    });
    expect(await turn.text).toBe('weather: rain; weather: no station in Ōsaka');
    const steps = await turn.steps;
    expect(steps.map(({ finishReason, toolCalls }) => [finishReason, toolCalls.length])).toEqual([
      ['tool-calls', 2],
      ['stop', 0],
    ]);
    expect(steps[0]?.response.modelId).toBe('scripted');
    const { inputTokens, outputTokens } = await turn.totalUsage;
    expect(inputTokens).toBeGreaterThan(0);
    expect(outputTokens).toBeGreaterThan(0);
  });

  it('handles arguments that are no JSON', async () => {
    const { model } = await start();
    const turn = await generateText({ model: providerAt(model), tools, prompt: 'Break', maxRetries: 0 });
    expect(turn.toolCalls).toMatchObject([{ toolName: 'weather', invalid: true }]);
  });

  it('tries again after a limit', async () => {
    const faults: ModelFault[] = [{ kind: 'refuse', status: 429, retryAfterSeconds: 0 }];
    const { model } = await start({ fault: () => faults.shift() });
    const turn = await generateText({ model: providerAt(model), prompt: 'Hello', maxRetries: 1 });
    expect(turn.text).toBe('Good day to you.');
    expect(model.requests).toHaveLength(2);
  });

  const BROKEN: [Exclude<ModelFault['kind'], 'refuse'>, object][] = [
    ['cut', { thrown: true, parts: [] }],
    ['end', { thrown: false, parts: ['error', 'finish: error'] }],
    ['malformed', { thrown: false, parts: ['error', 'finish: error'] }],
    ['error', { thrown: false, parts: ['error', 'finish: error'] }],
  ];
  it.each(BROKEN)('reports a stream with the fault "%s" by a throw or by a part', async (kind, expected) => {
    const { model } = await start({ fault: () => ({ kind, afterChunks: 3 }) });
    const turn = streamText({
      model: providerAt(model),
      prompt: 'Hello',
      maxRetries: 0,
      onError: () => undefined,
    });
    const texts: string[] = [];
    const parts: string[] = [];
    let thrown = false;
    try {
      for await (const part of turn.fullStream) {
        if (part.type === 'text-delta') texts.push(part.text);
        else if (part.type === 'error') parts.push('error');
        else if (part.type === 'finish') parts.push(`finish: ${part.finishReason}`);
      }
    } catch {
      thrown = true;
    }
    expect({ thrown, parts }).toEqual(expected);
    expect(texts.join('')).toBe('Good day ');
  });
});
