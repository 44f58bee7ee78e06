/** Example calls of the chat API for its documentation. The routes that use them are in the files beside this one. */

import { SAMPLE_ANSWERED, SAMPLE_ELICITATION, sampleEvents } from '../../http/docs/samples.ts';

const { conversationId, elicitationId, streamRequestId } = SAMPLE_ELICITATION;
const ASKED = { id: 'msg_1', role: 'user', parts: [{ type: 'text', text: 'Book my flight.' }] };
const QUESTION = { type: 'data-elicitation-request', id: elicitationId };
const { content: _content, ...SHOWN } = SAMPLE_ANSWERED;

export const ANSWER_EXAMPLE = {
  body: { conversationId, elicitationId, action: 'accept', content: { seat: 'window' } },
  reply: SAMPLE_ANSWERED,
};

export const CHAT_EXAMPLE = {
  body: { id: conversationId, messages: [ASKED] },
  reply: sampleEvents(
    [undefined, '1768469400000000-1', { type: 'start', messageId: 'msg_2' }],
    [undefined, '1768469400000000-4', { ...QUESTION, data: SAMPLE_ELICITATION }],
    [undefined, '1768469400000000-5', { ...QUESTION, data: SHOWN }],
    [undefined, '1768469400000000-7', { type: 'text-delta', id: '1', delta: 'A window seat it is.' }],
    [undefined, '1768469400000000-8', { type: 'finish', finishReason: 'stop' }],
    [undefined, undefined, '[DONE]'],
  ),
};

export const RENAME_EXAMPLE = {
  body: { title: 'Trip to Oslo' },
  reply: { conversationId, title: 'Trip to Oslo' },
};

export const LIST_EXAMPLE = {
  conversations: [
    {
      conversationId,
      title: 'Book my flight.',
      agent: 'travel',
      latestTurnAt: SAMPLE_ELICITATION.createdAt,
      isRunning: true,
    },
  ],
};

export const HISTORY_EXAMPLE = { conversationId, messages: [ASKED], isRunning: true };

export const TIMELINE_EXAMPLE = {
  conversationId,
  runs: [
    {
      streamRequestId,
      agent: 'travel',
      status: 'finished',
      startedAt: '2026-01-15T09:29:58.100Z',
      endedAt: '2026-01-15T09:30:43.500Z',
      durationMs: 45_400,
      owners: [
        {
          state: 'owned',
          pod: 'api-1',
          term: 1,
          startedAt: '2026-01-15T09:29:58.100Z',
          endedAt: '2026-01-15T09:30:43.500Z',
          durationMs: 45_400,
        },
      ],
      steps: [
        {
          index: 0,
          pod: 'api-1',
          finishReason: 'tool-calls',
          startedAt: '2026-01-15T09:29:58.300Z',
          endedAt: '2026-01-15T09:29:59.900Z',
          durationMs: 1_600,
        },
      ],
      calls: [
        {
          toolCallId: 'call_1',
          toolName: 'elicit',
          step: 0,
          state: 'returned',
          pod: 'api-1',
          startedAt: '2026-01-15T09:29:59.900Z',
          endedAt: '2026-01-15T09:30:41.300Z',
          durationMs: 41_400,
        },
      ],
      waits: [
        {
          elicitationId,
          trigger: 'agent',
          toolCallId: 'call_1',
          outcome: 'accepted',
          startedAt: SAMPLE_ELICITATION.createdAt,
          endedAt: SAMPLE_ANSWERED.settledAt,
          durationMs: 41_207,
        },
      ],
    },
  ],
};

export const PAGE_EXAMPLE = {
  page: {
    html: '<!doctype html><title>Order 7</title>',
    csp: {
      connectDomains: [],
      resourceDomains: ['https://cdn.example.com'],
      frameDomains: [],
      baseUriDomains: [],
    },
    permissions: [],
  },
  tool: 'order',
  input: { order: 7 },
  result: { content: [{ type: 'text', text: 'Paid.' }], structuredContent: { paid: true } },
};

export const PAGE_CALL_EXAMPLE = {
  callId: streamRequestId,
  result: { content: [{ type: 'text', text: 'Refunded.' }] },
};
