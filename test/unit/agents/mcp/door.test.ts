import { describe, expect, it } from 'vitest';
import { createScrubFor } from '../../../../services/api/src/agents/mcp/calls/scrub.ts';
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
      { id: 1, result: { inputRequests: { a: { params: { message: HIDDEN } } }, requestState: HIDDEN } },
      { id: 1, result: { inputRequests: { a: { params: { message: CLEAN } } }, requestState: HIDDEN } },
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
