import { type ApprovalChange, type ElicitationChange, eventItemOf, type OtherEvent } from '@parley/core';
import { jsonIn } from '@parley/core/domain/parsed';

/**
 * The content of one chunk of a chat completion stream, or of one event of a response: text, a change of a question or
 * approval, or another event.
 */
export type OpenAiPart =
  | { readonly type: 'text'; readonly text: string }
  | ElicitationChange
  | ApprovalChange
  | OtherEvent;

/**
 * Reads what an OpenAI client receives from `POST /run/v1/chat/completions` or `POST /run/v1/responses`. Pass it every
 * chunk of one stream, in order from the first. An event must carry the nonce that the first chunk announces;
 * everything else is text, even text of a model that looks like an event.
 *
 * @example
 * const read = createOpenAiReader(); // one for each stream
 * for await (const chunk of stream)
 *   for (const part of read(chunk)) if (part.type === 'text') write(part.text);
 */
export function createOpenAiReader(): (chunk: unknown) => readonly OpenAiPart[] {
  let nonce: unknown;
  let isFirst = true;
  return (chunk) => {
    if (isFirst) nonce = get(get(chunk, 'parley'), 'nonce');
    isFirst = false;
    const content = deltaOf(chunk);
    if (typeof content !== 'string' || content === '') return [];
    return [eventIn(content, nonce) ?? { type: 'text', text: content }];
  };
}

function deltaOf(chunk: unknown): unknown {
  return get(chunk, 'type') === 'response.output_text.delta'
    ? get(chunk, 'delta')
    : get(get(get(get(chunk, 'choices'), '0'), 'delta'), 'content');
}

function eventIn(
  content: string,
  nonce: unknown,
): ElicitationChange | ApprovalChange | OtherEvent | undefined {
  const envelope = typeof nonce === 'string' && nonce !== '' ? jsonIn(content) : undefined;
  if (typeof envelope !== 'object' || envelope === null) return undefined;
  const { type, nonce: its, ...data } = envelope as Readonly<Record<string, unknown>>;
  return its === nonce && typeof type === 'string' ? eventItemOf(type, data) : undefined;
}

function get(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}
