import { SAMPLE_ELICITATION, sampleEvents } from '../../http/docs/samples.ts';
import { frameText } from '../../http/sse.ts';
import { createResponseFormat } from './response-format.ts';
import { responseOf } from './response-object.ts';

const HEAD = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_768_469_400,
  model: 'travel',
};

function chunk(content: string) {
  return { ...HEAD, choices: [{ index: 0, delta: { content }, finish_reason: null }] };
}

export const COMPLETION_EXAMPLE = {
  body: {
    model: HEAD.model,
    conversationId: SAMPLE_ELICITATION.conversationId,
    messages: [{ role: 'user', content: 'Book my flight.' }],
    stream: true,
  },
  reply: sampleEvents(
    [undefined, undefined, chunk('One moment. ')],
    [undefined, undefined, { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
    [undefined, undefined, '[DONE]'],
  ),
};

export const MODEL_EXAMPLE = {
  reply: { id: HEAD.model, object: 'model', created: 0, owned_by: 'parley', name: 'Travel agent' },
};

export const MODELS_EXAMPLE = { reply: { object: 'list', data: [MODEL_EXAMPLE.reply] } };

const RESPONSE_HEAD = {
  id: 'resp_1',
  model: HEAD.model,
  created: HEAD.created,
  conversationId: SAMPLE_ELICITATION.conversationId ?? '',
  previousId: undefined,
};
const SAID = 'One moment.';
const ENDED = { reason: 'stop', usage: { inputTokens: 12, outputTokens: 3 } } as const;

export const RESPONSE_EXAMPLE = responseOf(RESPONSE_HEAD, { type: 'ended', text: SAID, end: ENDED });

export const RESPONSE_STREAM_EXAMPLE = {
  body: {
    model: HEAD.model,
    input: 'Book my flight.',
    conversation: RESPONSE_HEAD.conversationId,
    stream: true,
  },
  reply: responseStream(),
};

function responseStream(): string {
  const format = createResponseFormat(RESPONSE_HEAD, undefined);
  const lines = [
    ...format.begin(undefined),
    ...format.content({ text: SAID, isEnvelope: false }),
    ...format.finish(ENDED),
  ];
  return lines.map(frameText).join('');
}
