import { jsonLine } from '../../turns/plain.ts';
import type { OpenAiFormat, OpenAiLine } from './format.ts';
import {
  messageIdOfResponse,
  outputOf,
  type ResponseHead,
  type ResponseState,
  responseOf,
  textPart,
} from './response-object.ts';

/**
 * Writes a reply as events of the Responses format. All text of the turn is one message with one text. Envelopes are deltas of
 * that text, but not part of the finished text.
 */
export function createResponseFormat(head: ResponseHead, nonce: string | undefined): OpenAiFormat {
  const item_id = messageIdOfResponse(head.id);
  const place = { output_index: 0, content_index: 0 };
  let count = 0;
  let text = '';

  function lineOf(type: string, more: object): OpenAiLine {
    count += 1;
    return { event: type, text: jsonLine({ type, sequence_number: count - 1, ...more }) };
  }

  const responseLine = (type: string, state: ResponseState, more: object = {}) =>
    lineOf(type, { response: responseOf(head, state), ...more });

  function begin(): OpenAiLine[] {
    const running: ResponseState = { type: 'running' };
    return [
      responseLine('response.created', running, nonce === undefined ? {} : { parley: { nonce } }),
      responseLine('response.in_progress', running),
      lineOf('response.output_item.added', {
        output_index: 0,
        item: outputOf(item_id, undefined, 'in_progress'),
      }),
      lineOf('response.content_part.added', { item_id, ...place, part: textPart('') }),
    ];
  }

  function end(state: ResponseState): OpenAiLine[] {
    const { status } = responseOf(head, state);
    const itemStatus = status === 'completed' ? 'completed' : 'incomplete';
    return [
      lineOf('response.output_text.done', { item_id, ...place, text, logprobs: [] }),
      lineOf('response.content_part.done', { item_id, ...place, part: textPart(text) }),
      lineOf('response.output_item.done', { output_index: 0, item: outputOf(item_id, text, itemStatus) }),
      responseLine(`response.${status}`, state),
    ];
  }

  return {
    begin,
    content({ text: delta, isEnvelope }) {
      if (!isEnvelope) text += delta;
      return [lineOf('response.output_text.delta', { item_id, ...place, delta, logprobs: [] })];
    },
    finish: (how) => end({ type: 'ended', text, end: how }),
    wait: () => end({ type: 'waiting', text }),
    fail(code, message) {
      const state: ResponseState = { type: 'failed', text, code, message };
      return [...(count === 0 ? begin() : []), responseLine('response.failed', state)];
    },
  };
}
