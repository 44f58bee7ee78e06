import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { demoScript } from '../../../infra/demo/stand-ins/scripted-model/demo.ts';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';

// The suites drive the model in all its ways. What they cannot see is whether it would notice a conversation that no
// real model takes, and what the script of the demo says.
let model: ScriptedModel;
let client: OpenAI;
beforeAll(async () => {
  model = await startScriptedModel({ script: demoScript(), apiKey: 'right' });
});
beforeEach(() => {
  client = new OpenAI({ baseURL: model.url, apiKey: 'right', maxRetries: 0, logLevel: 'off' });
});
afterAll(() => model?.stop());

type Message = OpenAI.ChatCompletionMessageParam;
type Tool = OpenAI.ChatCompletionFunctionTool;

const offer = (name: string, properties: Record<string, object> = {}): Tool => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const TOOLS = [
  ...['list_issues', 'get_issue', 'create_issue', 'close_issue', 'elicit'].map((name) => offer(name)),
  offer('delegate_to_tracker', { task: { type: 'string' } }),
  offer('delegate_to_writer', { task: { type: 'string' } }),
];

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

describe('the script of the demo', () => {
  type Said = string | [name: string, args: Record<string, unknown>][];

  /** Plays one turn: gives each round of calls these results, and returns what the model did in each step. */
  async function play(text: string, rounds: readonly string[][], tools: Tool[] = TOOLS): Promise<Said[]> {
    const messages: Message[] = [{ role: 'user', content: text }];
    const said: Said[] = [];
    for (const results of [...rounds, []]) {
      const { choices } = await client.chat.completions.create({ model: 'any', messages, tools });
      const message = choices[0]?.message;
      const calls = message?.tool_calls?.flatMap((call) => (call.type === 'function' ? [call] : [])) ?? [];
      if (message === undefined || calls.length === 0) return [...said, message?.content ?? ''];
      said.push(calls.map(({ function: called }) => [called.name, JSON.parse(called.arguments)]));
      messages.push(message);
      for (const [at, { id }] of calls.entries())
        messages.push({ role: 'tool', tool_call_id: id, content: results[at] ?? '' });
    }
    return said;
  }

  const issues = (...titles: string[]) =>
    JSON.stringify({
      issues: titles.map((title, at) => ({ number: at + 1, title, state: 'open', body: '' })),
    });
  const issue = (state: string) => JSON.stringify({ issue: { number: 3, title: 'Salt', state, body: '' } });

  it.each<[string, string, Said, string]>([
    ['Which bugs do I have?', issues(), [['list_issues', {}]], 'You have no open issues.'],
    ['list my issues', issues('Slow'), [['list_issues', {}]], 'You have 1 open issue: #1 Slow.'],
    ['show issue #3', issue('open'), [['get_issue', { number: 3 }]], 'Issue #3 is open: Salt.'],
    ['close issue 3', issue('closed'), [['close_issue', { number: 3 }]], 'I closed issue #3: Salt.'],
  ])('calls a tool, and tells what came of it: %s', async (text, result, called, end) => {
    expect(await play(text, [[result]])).toEqual([called, end]);
  });

  it('explains a failure to the user, without the text for models, and stops there', async () => {
    const text = 'The account was not connected. The user explicitly declined. Do not ask again; go on.';
    expect(await play('list my issues then create an issue "X"', [[text]])).toEqual([
      [['list_issues', {}]],
      'I could not list your issues. The account was not connected. You explicitly declined.',
    ]);
  });

  it('calls tools joined by "and" in parallel, and tools after "then" in the next step', async () => {
    const refused = 'The user explicitly declined. Do not ask again; explain what is not possible.';
    const steps = await play('list my issues and ask me for the environment, then create an issue "Salt"', [
      [issues('Slow'), refused],
      [issue('open')],
    ]);
    expect(steps).toMatchObject([
      [
        ['list_issues', {}],
        ['elicit', { kind: 'choice', title: 'Environment' }],
      ],
      [['create_issue', { title: 'Salt' }]],
      'You have 1 open issue: #1 Slow. You explicitly declined. I created issue #3: Salt.',
    ]);
  });

  it('hands tasks to other agents, and says which tool it lacks', async () => {
    const text = `ask the tracker agent to "list my issues" and ask the writer to 'say "hi"'`;
    expect(await play(text, [['Done.', 'Hi.']])).toEqual([
      [
        ['delegate_to_tracker', { task: 'list my issues' }],
        ['delegate_to_writer', { task: 'say "hi"' }],
      ],
      'The agent tracker says: Done. The agent writer says: Hi.',
    ]);
    expect(await play('list my issues', [], [offer('elicit')])).toEqual(['I have no tool to list issues.']);
  });
});
