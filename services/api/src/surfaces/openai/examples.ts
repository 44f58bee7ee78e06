import { SAMPLE_ELICITATION, sampleEvents } from '../../http/docs/samples.ts';

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
