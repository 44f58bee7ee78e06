import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoScript } from '../../../infra/demo/stand-ins/scripted-model/demo.ts';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';

type Message = OpenAI.ChatCompletionMessageParam;
type Tool = OpenAI.ChatCompletionFunctionTool;

let model: ScriptedModel;
let client: OpenAI;

beforeAll(async () => {
  model = await startScriptedModel({ script: demoScript() });
  client = new OpenAI({ baseURL: model.url, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => model?.stop());

const offer = (name: string, properties: Record<string, object> = {}): Tool => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties, required: Object.keys(properties) } },
});
const TRACKER = ['list_issues', 'get_issue', 'create_issue', 'close_issue'].map((name) => offer(name));
const TOOLS = [
  ...TRACKER,
  offer('delegate_to_tracker', { task: { type: 'string' } }),
  offer('delegate_to_writer', { task: { type: 'string' } }),
  offer('elicit'),
];

type Called = [name: string, args: Record<string, unknown>];
type Said = string | Called[];

/** Plays one turn: gives each round of calls these results, and returns what the model did in each step. */
async function play(text: string, rounds: readonly string[][], tools: Tool[] = TOOLS): Promise<Said[]> {
  const messages: Message[] = [{ role: 'user', content: text }];
  const said: Said[] = [];
  for (const results of [...rounds, []]) {
    const { choices } = await client.chat.completions.create({
      model: 'any',
      messages,
      ...(tools.length > 0 && { tools }),
    });
    const message = choices[0]?.message;
    const calls = message?.tool_calls?.flatMap((call) => (call.type === 'function' ? [call] : [])) ?? [];
    said.push(
      calls.length === 0
        ? (message?.content ?? '')
        : calls.map(({ function: called }): Called => [called.name, JSON.parse(called.arguments)]),
    );
    if (message === undefined || calls.length === 0) break;
    messages.push(
      message,
      ...calls.map(({ id }, at): Message => ({ role: 'tool', tool_call_id: id, content: results[at] ?? '' })),
    );
  }
  return said;
}

const issue = (number: number, title: string, state = 'open') => ({ number, title, state, body: '' });
const issues = (...titles: string[]) =>
  JSON.stringify({ issues: titles.map((title, at) => issue(at + 1, title)) });

describe('the script of the demo', () => {
  it('lists issues and describes them', async () => {
    expect(await play('Please list my issues', [[issues('Slow', 'Torn')]])).toEqual([
      [['list_issues', {}]],
      'You have 2 open issues: #1 Slow, #2 Torn.',
    ]);
    expect(await play('Which bugs do I have?', [[issues()]])).toEqual([
      [['list_issues', {}]],
      'You have no open issues.',
    ]);
  });

  it('reads the raw result of an MCP tool, and tool names with a server prefix', async () => {
    const wrapped = JSON.stringify({ content: [{ type: 'text', text: issues('Slow') }] });
    expect(await play('list my issues', [[wrapped]], [offer('tracker__list_issues')])).toEqual([
      [['tracker__list_issues', {}]],
      'You have 1 open issue: #1 Slow.',
    ]);
    const parts = JSON.stringify([{ type: 'text', text: issues('Slow') }]);
    expect((await play('list my issues', [[parts]])).at(-1)).toBe('You have 1 open issue: #1 Slow.');
  });

  it('creates, reads and closes', async () => {
    const one = (state = 'open') => [JSON.stringify({ issue: issue(3, 'Salt and pepper', state) })];
    expect(await play('Create an issue "Salt and pepper"', [one()])).toEqual([
      [['create_issue', { title: 'Salt and pepper' }]],
      'I created issue #3: Salt and pepper.',
    ]);
    expect(await play('show issue #3', [one()])).toEqual([
      [['get_issue', { number: 3 }]],
      'Issue #3 is open: Salt and pepper.',
    ]);
    expect(await play('close issue 3', [one('closed')])).toEqual([
      [['close_issue', { number: 3 }]],
      'I closed issue #3: Salt and pepper.',
    ]);
  });

  it('explains a failure to the user, without the text for models, and stops there', async () => {
    const text = 'The account was not connected. The user explicitly declined. Do not ask again; go on.';
    expect(await play('list my issues then create an issue "X"', [[text]])).toEqual([
      [['list_issues', {}]],
      'I could not list your issues. The account was not connected. You explicitly declined.',
    ]);
  });

  it('calls tools joined by "and" in parallel, and tools after "then" in the next step', async () => {
    const created = JSON.stringify({ issue: issue(3, 'X') });
    expect(
      await play('list my issues and ask me for the environment, then create an issue "X"', [
        [issues('Slow'), 'The user explicitly declined. Do not ask again; explain what is not possible.'],
        [created],
      ]),
    ).toEqual([
      [
        ['list_issues', {}],
        [
          'elicit',
          {
            kind: 'choice',
            title: 'Environment',
            message: 'Which environment should I use?',
            options: [{ value: 'staging' }, { value: 'production' }],
          },
        ],
      ],
      [['create_issue', { title: 'X' }]],
      'You have 1 open issue: #1 Slow. You explicitly declined. I created issue #3: X.',
    ]);
  });

  it('hands tasks to other agents, two levels deep', async () => {
    expect(
      await play(
        `ask the tracker agent to "list my issues and close issue 1" and ask the writer to 'say "hi"'`,
        [['Done.', 'Hi.']],
      ),
    ).toEqual([
      [
        ['delegate_to_tracker', { task: 'list my issues and close issue 1' }],
        ['delegate_to_writer', { task: 'say "hi"' }],
      ],
      'The agent tracker says: Done. The agent writer says: Hi.',
    ]);
    const one = [
      offer('delegate', { agent: { type: 'string', enum: ['a', 'tracker'] }, task: { type: 'string' } }),
    ];
    expect((await play('ask the tracker agent to "ask me"', [], one))[0]).toEqual([
      ['delegate', { agent: 'tracker', task: 'ask me' }],
    ]);
  });

  it('reports a missing tool, counts, and chats', async () => {
    expect(await play('list my issues and ask me', [], [offer('elicit')])).toEqual([
      'I have no tool to list issues.',
    ]);
    expect(await play('Count to 5, please', [])).toEqual(['1 2 3 4 5']);
    expect(await play('Good morning', [], [])).toEqual([
      'I am a scripted model: my lines are fixed. Try "list my issues" or "create an issue". My tools: none.',
    ]);
  });
});
