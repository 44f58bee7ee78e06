import { ELICITATION_EXTENSION } from '@parley/shared/domain/a2a/extension';
import { SAMPLE_ELICITATION } from '../../http/docs/samples.ts';

const { elicitationId, mode, message, requestedSchema, status, expiresAt } = SAMPLE_ELICITATION;
const MESSAGE = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Book my flight.' }] };
const TASK = {
  id: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
  contextId: 'conv_7d0f',
  status: {
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: {
      messageId: 'sr_0gT3fMv7Qx2LrK8sYbWnHc-2',
      contextId: 'conv_7d0f',
      taskId: 'sr_0gT3fMv7Qx2LrK8sYbWnHc',
      role: 'ROLE_AGENT',
      parts: [
        { text: message },
        { data: { type: 'elicitation', elicitationId, mode, message, requestedSchema, status, expiresAt } },
      ],
      extensions: [ELICITATION_EXTENSION],
    },
    timestamp: '2026-01-15T09:30:00.000Z',
  },
};

export const RPC_EXAMPLE = {
  body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: MESSAGE } },
  reply: { jsonrpc: '2.0', id: 1, result: { task: TASK } },
};
export const SEND_EXAMPLE = { body: { message: MESSAGE }, reply: { task: TASK } };
export const TASK_EXAMPLE = { reply: TASK };
export const CARD_EXAMPLE = {
  reply: {
    protocolVersion: '0.3.0',
    name: 'Travel',
    url: 'https://parley.example.com/run/a2a/travel',
    preferredTransport: 'JSONRPC',
    capabilities: { streaming: true, extensions: [{ uri: ELICITATION_EXTENSION }] },
  },
};
