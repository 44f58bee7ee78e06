import { readClientReply } from '@parley/shared/domain/runs/client-request';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { describe, expect, it } from 'vitest';
import {
  capabilityFor,
  isAskable,
  readRequest,
} from '../../../services/api/src/agents/mcp/questions/client-ask.ts';
import { showsOf } from '../../../services/api/src/surfaces/mcp/capabilities.ts';
import { createClientMessages } from '../../../services/api/src/surfaces/mcp/legacy/client-messages.ts';
import { createOpenRequests } from '../../../services/api/src/surfaces/mcp/open-requests.ts';

const TEXT = { role: 'assistant', content: { type: 'text', text: 'A.' }, model: 'm', stopReason: 'endTurn' };
const MESSAGES = [{ role: 'user', content: { type: 'text', text: 'Q?' } }];
const NOTHING = { form: false, url: false };

describe('what a client declares', () => {
  it.each([
    [{}, undefined],
    [{ sampling: {} }, { sampling: { tools: false } }],
    [
      { sampling: { tools: {}, context: {} }, roots: { listChanged: true } },
      { sampling: { tools: true }, roots: true },
    ],
    [{ roots: {} }, { roots: true }],
    [{ sampling: true, roots: null }, undefined],
  ])('%j', (capabilities, services) => {
    expect(showsOf(capabilities, { isRecent: true }).services).toEqual(services);
  });

  it('has no tools in the older revision', () => {
    const { services } = showsOf({ sampling: { tools: {} } }, { isRecent: false });
    expect(services).toEqual({ sampling: { tools: false } });
  });
});

describe('what a server asks the client for', () => {
  it.each([
    ['sampling/createMessage', { sampling: { tools: false } }, true],
    ['sampling/createMessage', { roots: true }, false],
    ['roots/list', { roots: true }, true],
    ['roots/list', undefined, false],
    ['elicitation/create', { roots: true }, false],
    ['tools/call', { roots: true }, false],
  ])('%s of %j: %s', (method, services, expected) => {
    expect(isAskable(method, { ...NOTHING, services })).toBe(expected);
  });

  it.each([
    ['is no list of messages', { messages: 'Q?', maxTokens: 1 }, /messages must be a list/],
    ['has no messages', { messages: [], maxTokens: 1 }, /must not be empty/],
    ['has no bound', { messages: MESSAGES }, /maxTokens/],
    ['has tools that were not declared', { messages: MESSAGES, maxTokens: 1, tools: [] }, /with tools/],
    ['is too large', { messages: MESSAGES, maxTokens: 1, systemPrompt: 'x'.repeat(70_000) }, /64000 bytes/],
    ['has too many values', { messages: Array(20_000).fill(MESSAGES[0]), maxTokens: 1 }, /too large/],
  ])('is refused where it %s', (_name, params, message) => {
    const kinds = { ...NOTHING, services: { sampling: { tools: false } } };
    expect(() => readRequest('sampling/createMessage', params, kinds)).toThrow(message);
  });

  it.each([
    ['sampling/createMessage', { sampling: {} }],
    ['roots/list', { roots: {} }],
    ['tools/call', undefined],
  ])('%s needs the capability %j', (method, expected) => {
    expect(capabilityFor(method)).toEqual(expected);
  });
});

describe('the reply of a client [SAMP-07]', () => {
  it.each([
    ['a text', 'sampling/createMessage', { result: TEXT }, { result: TEXT }],
    [
      'folders',
      'roots/list',
      { result: { roots: [{ uri: 'file:///a' }] } },
      { result: { roots: [{ uri: 'file:///a' }] } },
    ],
    [
      'an error',
      'roots/list',
      { error: { code: -1, message: 'No.' } },
      { error: { code: -1, message: 'No.' } },
    ],
    [
      'nothing',
      'roots/list',
      {},
      { error: { code: -32603, message: expect.stringContaining('well formed') } },
    ],
    [
      'a result of another request',
      'sampling/createMessage',
      { result: { action: 'accept' } },
      { error: { code: -32603, message: expect.stringContaining('well formed') } },
    ],
    [
      'a result that is too large',
      'sampling/createMessage',
      { result: { ...TEXT, model: 'x'.repeat(70_000) } },
      { error: { code: -32603, message: expect.stringContaining('too large') } },
    ],
  ] as const)('is %s', (_name, method, sent, expected) => {
    expect(readClientReply(method, sent)).toEqual(expected);
  });
});

describe('the open requests of a call', () => {
  const asked = {
    type: 'client-asked',
    toolCallId: 'c1',
    requestId: 'cr_1',
    method: 'roots/list',
    params: {},
    expiresAt: 1,
  } as const;
  const take = (requests: ReturnType<typeof createOpenRequests>, event: TurnEvent) =>
    requests.take({ type: 'turn', event, id: '', isKnown: false, isWaiting: false });

  it.each<[string, TurnEvent, number]>([
    ['its end', { type: 'client-ask-ended', toolCallId: 'c1', requestId: 'cr_1', isAnswered: false }, 1],
    ['its reply', { type: 'client-ask-ended', toolCallId: 'c1', requestId: 'cr_1', isAnswered: true }, 0],
    ['the end of its call', { type: 'tool-failed', toolCallId: 'c1', message: 'Lost.' }, 1],
    ['the end of the turn', { type: 'turn-failed', code: 'x', message: 'X.' }, 1],
  ])('end with %s', (_name, event, dropped) => {
    const requests = createOpenRequests();
    expect(take(requests, asked)).toEqual({ asked, dropped: [] });
    expect(take(requests, asked)).toEqual({ dropped: [] });
    expect(take(requests, { type: 'tool-returned', toolCallId: 'c2', output: '' }).dropped).toEqual([]);
    expect(take(requests, event).dropped).toHaveLength(dropped);
    expect(requests.open()).toEqual([]);
  });

  it('are sent once to a reader that loses the feed after the reply', async () => {
    let isOpen = true;
    const messagesOf = createClientMessages(
      { clientRequests: { isOpen: async () => isOpen } },
      { caller: { tenant: 't', userId: 'u' } },
    );
    const event = { type: 'turn', event: asked, id: '', isKnown: false, isWaiting: false } as const;
    expect(await messagesOf(event)).toEqual([expect.objectContaining({ id: 'cr_1' })]);
    isOpen = false;
    await messagesOf({ type: 'lost' });
    expect(await messagesOf(event)).toEqual([]);
  });

  it('do not come back after their reply', () => {
    const requests = createOpenRequests();
    requests.replied('cr_1');
    expect([take(requests, asked).asked, requests.open()]).toEqual([undefined, []]);
  });
});
