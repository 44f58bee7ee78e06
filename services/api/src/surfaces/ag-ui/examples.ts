import { SAMPLE_ELICITATION, sampleEvents } from '../../http/docs/samples.ts';
import { capabilitiesOf } from './capabilities.ts';
import { interruptOfQuestion } from './questions.ts';

const RUN = { threadId: SAMPLE_ELICITATION.conversationId, runId: 'run-1' };
const MESSAGE = { messageId: 'msg_0gT3fMv7Qx2LrK8sYbWnHc.0.0' };
const INTERRUPT = interruptOfQuestion(SAMPLE_ELICITATION);

export const RUN_EXAMPLE = {
  body: { ...RUN, messages: [{ id: 'm-1', role: 'user', content: 'Book my flight.' }] },
  reply: sampleEvents(
    ...[
      { type: 'RUN_STARTED', ...RUN, protocolVersion: '1.0' },
      { type: 'TEXT_MESSAGE_START', ...MESSAGE, role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', ...MESSAGE, delta: 'One moment.' },
      { type: 'TEXT_MESSAGE_END', ...MESSAGE },
      { type: 'RUN_FINISHED', ...RUN, outcome: { type: 'interrupt', interrupts: [INTERRUPT] } },
    ].map((event) => [undefined, undefined, event] as const),
  ),
};

export const CONNECT_EXAMPLE = { query: `?threadId=${RUN.threadId}`, reply: RUN_EXAMPLE.reply };

export const CAPABILITIES_EXAMPLE = { reply: capabilitiesOf({ title: 'Travel agent' }, '1.0.0') };
