import { LEFT_OUT } from '@parley/shared/domain/json/depth';
import { beforeEach, describe, expect, it } from 'vitest';
import { resultOf } from '../../../../services/api/src/agents/mcp/content.ts';
import { readQuestion } from '../../../../services/api/src/agents/mcp/questions/question.ts';
import { createScrubFor } from '../../../../services/api/src/agents/mcp/scrub.ts';
import { createDoor } from '../../../../services/api/src/agents/mcp/transports/door.ts';

const TOKEN = 'token-of-the-project';
const door = createDoor(createScrubFor([`Bearer ${TOKEN}`]));
const pass = (message: Record<string, unknown>) => door.message({ jsonrpc: '2.0', ...message } as never);

const HIDDEN = `a\u202eb ${TOKEN}`;
const CLEAN = 'ab [redacted]';
const SCRUBBED = 'a\u202eb [redacted]';
const PAGE = { elicitationId: 'p', url: `https://a.example/?k=${TOKEN}` };

describe('what a server sends', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['an error', { error: { code: 1, message: HIDDEN } }, { error: { code: 1, message: CLEAN } }],
    [
      'the handle of a task, but for the id that is sent back',
      { id: 1, result: { resultType: 'task', taskId: TOKEN, statusMessage: HIDDEN } },
      { id: 1, result: { resultType: 'task', taskId: TOKEN, statusMessage: CLEAN } },
    ],
    [
      'the state of a task',
      { id: 1, result: { taskId: 't', error: { code: 1, message: HIDDEN }, statusMessage: HIDDEN } },
      { id: 1, result: { taskId: 't', error: { code: 1, message: CLEAN }, statusMessage: CLEAN } },
    ],
    [
      'a credential that is divided',
      { error: { code: 1, message: 'token-of\u200b-the-project' } },
      { error: { code: 1, message: '[redacted]' } },
    ],
    [
      'required pages',
      { error: { code: -32042, message: 'x', data: { elicitations: [{ ...PAGE, message: HIDDEN }] } } },
      {
        error: {
          code: -32042,
          message: 'x',
          data: {
            elicitations: [{ elicitationId: 'p', url: 'https://a.example/?k=[redacted]', message: CLEAN }],
          },
        },
      },
    ],
    [
      'a log message',
      {
        method: 'notifications/message',
        params: { level: 'info', logger: HIDDEN, data: { note: [HIDDEN] } },
      },
      { method: 'notifications/message', params: { level: 'info', logger: CLEAN, data: { note: [CLEAN] } } },
    ],
    [
      'progress',
      { method: 'notifications/progress', params: { progressToken: 1, progress: 1, message: HIDDEN } },
      { method: 'notifications/progress', params: { progressToken: 1, progress: 1, message: CLEAN } },
    ],
    [
      'a question, but for the values that its answer repeats',
      {
        id: 1,
        method: 'elicitation/create',
        params: {
          message: HIDDEN,
          requestedSchema: { properties: { a: { title: HIDDEN, enum: ['a\u200eb'] } } },
        },
      },
      {
        id: 1,
        method: 'elicitation/create',
        params: {
          message: CLEAN,
          requestedSchema: { properties: { a: { title: CLEAN, enum: ['a\u200eb'] } } },
        },
      },
    ],
    [
      'a round of questions, but for its state',
      {
        id: 1,
        result: {
          resultType: 'input_required',
          inputRequests: { a: { params: { message: HIDDEN } } },
          requestState: HIDDEN,
          nextCursor: HIDDEN,
        },
      },
      {
        id: 1,
        result: {
          resultType: 'input_required',
          inputRequests: { a: { params: { message: CLEAN } } },
          requestState: HIDDEN,
          nextCursor: SCRUBBED,
        },
      },
    ],
    [
      'a state and a position in a result of another sort',
      { id: 1, result: { contents: [], tools: 'none', requestState: HIDDEN, nextCursor: HIDDEN } },
      { id: 1, result: { contents: [], tools: 'none', requestState: SCRUBBED, nextCursor: SCRUBBED } },
    ],
    [
      'lists, but for names, addresses and positions',
      {
        id: 1,
        result: {
          tools: [{ name: 'a\u200e', title: HIDDEN, inputSchema: { description: HIDDEN } }],
          prompts: [{ name: 'a\u200e', description: HIDDEN }],
          resources: [{ uri: 'a:\u200e', title: HIDDEN }],
          resourceTemplates: [{ uriTemplate: 'a:\u200e', title: HIDDEN }],
          nextCursor: HIDDEN,
          requestState: HIDDEN,
        },
      },
      {
        id: 1,
        result: {
          tools: [{ name: 'a\u200e', title: CLEAN, inputSchema: { description: CLEAN } }],
          prompts: [{ name: 'a\u200e', description: CLEAN }],
          resources: [{ uri: 'a:\u200e', title: CLEAN }],
          resourceTemplates: [{ uriTemplate: 'a:\u200e', title: CLEAN }],
          nextCursor: HIDDEN,
          requestState: SCRUBBED,
        },
      },
    ],
    [
      'a result, whose content is data',
      {
        id: 1,
        result: { content: [{ type: 'text', text: HIDDEN }], structuredContent: { [TOKEN]: HIDDEN } },
      },
      {
        id: 1,
        result: {
          content: [{ type: 'text', text: SCRUBBED }],
          structuredContent: { '[redacted]': SCRUBBED },
        },
      },
    ],
    [
      'resources, prompts and completions, whose content is data',
      {
        id: 1,
        result: { contents: [{ text: HIDDEN }], messages: [HIDDEN], completion: { values: [HIDDEN] } },
      },
      {
        id: 1,
        result: { contents: [{ text: SCRUBBED }], messages: [SCRUBBED], completion: { values: [SCRUBBED] } },
      },
    ],
    ['a result without members', { id: 1, result: {} }, { id: 1, result: {} }],
  ])('has no credential and, where people read it, nothing hidden: %s', (_what, given, got) => {
    expect(pass(given)).toEqual({ jsonrpc: '2.0', ...got });
  });
});

it('a result is shown without what its server alone reads', () => {
  const reply = { content: [], nextCursor: TOKEN, requestState: TOKEN };
  expect(resultOf(reply, { bytesMax: 100, whole: true }).whole).toEqual({ content: [] });
});

it.each([
  ['nothing else', {}, {}],
  ['metadata of its own', { 'a.example/at': 1 }, { _meta: { 'a.example/at': 1 } }],
])('a result is passed on without the name of its server, with %s', (_what, meta, left) => {
  const serverInfo = { name: 'desk', version: '1.0.0' };
  const reply = { content: [], _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo, ...meta } };
  expect(resultOf(reply, { bytesMax: 100, whole: true }).whole).toEqual({ content: [], ...left });
});

describe('what is too large of what a server sends', () => {
  let looks = 0;
  /** Counts the looks at its members: a text in each is no text that is read. */
  const member = {
    get title() {
      looks += 1;
      return 'Title';
    },
  };
  const membersOf = (size: number) =>
    Object.fromEntries(Array.from({ length: size }, (_, at) => [`f${at}`, member]));
  // More members than are ever looked at. Nothing changes them, so that they are made once.
  const LOOKS_MAX = 50_000;
  const large = membersOf(LOOKS_MAX + 10_000);
  beforeEach(() => {
    looks = 0;
  });

  it.each<[string, (value: object) => Record<string, unknown>, Record<string, unknown>]>([
    [
      'a tool',
      (value) => ({
        id: 1,
        result: {
          tools: [
            { name: 'a', inputSchema: value },
            { name: 'b', title: 'B' },
          ],
        },
      }),
      {
        result: {
          tools: [
            { name: 'a', inputSchema: { description: LEFT_OUT } },
            { name: 'b', title: 'B' },
          ],
        },
      },
    ],
    [
      'a round',
      (value) => ({ id: 1, result: { inputRequests: { q: { method: 'm', params: value } } } }),
      { result: { inputRequests: { q: { method: 'm', params: LEFT_OUT } } } },
    ],
    ['a notice', (value) => ({ method: 'notifications/message', params: { data: value } }), { params: {} }],
    [
      'an error',
      (value) => ({ id: 1, error: { code: -1, message: 'm', data: value } }),
      { error: { code: -1, message: 'm' } },
    ],
  ])('is lost alone and unread: %s', (_what, messageOf, expected) => {
    expect(pass(messageOf(large))).toMatchObject(expected);
    expect(looks).toBeLessThan(LOOKS_MAX);
  });

  it('is refused, where it is a question', () => {
    const { params } = pass({
      id: 1,
      method: 'elicitation/create',
      params: { message: 'm', requestedSchema: large },
    }) as { params: unknown };
    expect(() => readQuestion(params, { form: true, url: true })).toThrow(/too large/);
    expect(looks).toBeLessThan(LOOKS_MAX);
  });

  it('is lost beyond the first tools of a very long list', () => {
    const tool = { name: 'a', inputSchema: { properties: membersOf(1_000) } };
    const { result } = pass({
      id: 1,
      result: { tools: Array.from({ length: 200 }, () => tool) },
    }) as never as {
      result: { tools: object[] };
    };
    expect(JSON.stringify(result.tools[0])).not.toContain(LEFT_OUT);
    expect(JSON.stringify(result.tools.at(-1))).toContain(LEFT_OUT);
  });
});
