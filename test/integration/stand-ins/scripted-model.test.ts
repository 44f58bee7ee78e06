import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';

// The suites drive the model in all its ways. What they cannot see is whether it would notice a conversation that no
// real model takes.
let model: ScriptedModel;
let client: OpenAI;
beforeAll(async () => {
  model = await startScriptedModel({ script: [], apiKey: 'right' });
});
beforeEach(() => {
  client = new OpenAI({ baseURL: model.url, apiKey: 'right', maxRetries: 0, logLevel: 'off' });
});
afterAll(() => model?.stop());

const offer = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } });

describe('what the scripted model refuses', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } };
  const user = { role: 'user', content: 'Hello' };
  const assistant = { role: 'assistant', content: null, tool_calls: [call] };
  const result = { role: 'tool', tool_call_id: 'c1', content: 'x' };
  const nameless = [{ type: 'function', function: { name: 'a.b' } }];

  it.each<[string, object]>([
    ['a call without its result', { messages: [user, assistant, user] }],
    ['a call without its result, at the end', { messages: [user, assistant] }],
    ['a result without its call', { messages: [user, result] }],
    ['a result given twice', { messages: [user, assistant, result, result] }],
    ['a result that comes too late', { messages: [user, assistant, user, result] }],
    ['an assistant that says nothing', { messages: [user, { role: 'assistant', content: null }] }],
    ['empty content parts', { messages: [{ role: 'user', content: [] }] }],
    ['no messages', { messages: [] }],
    ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['a tool name with a dot', { messages: [user], tools: nameless }],
    ['a tool offered twice', { messages: [user], tools: [offer('weather'), offer('weather')] }],
  ])('%s', async (_what, body) => {
    const before = model.requests.length;
    const asked = client.chat.completions.create({ model: 'any', messages: [], ...body });
    await expect(asked).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect(model.requests).toHaveLength(before);
  });

  it('a wrong key, without repeating it', async () => {
    const stranger = new OpenAI({ baseURL: model.url, apiKey: 'wrong-key', maxRetries: 0 });
    const failed = await stranger.models.list().catch((error: unknown) => error);
    expect(failed).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(String(failed)).not.toContain('wrong-key');
  });
});
