/** Reads requests in the Responses format. Replies are in `response-object.ts` and `response-format.ts`. */

import { CallerId } from '@parley/core/domain/elicitations/ask-input';
import { z } from 'zod';
import type { ChatMessage } from '../../turns/messages.ts';
import { AGENTS_OWN, refused, refuseInstructions } from './refused.ts';

const ITEMS_MAX = 1_000;
// The maximum number of references. Each causes a read of a whole turn, including the images of its message.
const REFERENCES_MAX = 200;
const REFERENCED_BYTES_MAX = 1024 * 1024;

const InputItem = z.looseObject({
  type: z.string().nullish(),
  id: z.string().nullish(),
  role: z.string().optional(),
});
type InputItem = z.infer<typeof InputItem>;

const Conversation = z.union([CallerId, z.looseObject({ id: CallerId })]);

/**
 * A request for a turn in the Responses format. Fields that would change the meaning of the reply, and that Parley does not
 * support, are refused. Settings of a model (such as `temperature`) belong to the agent and are ignored.
 */
export const ResponseRequest = z
  .looseObject({
    model: z.string().min(1).max(128).describe('The agent.'),
    input: z
      .union([z.string(), z.array(InputItem).min(1).max(ITEMS_MAX)])
      .describe('The last message is the user’s.'),
    stream: z.boolean().nullish(),
    previous_response_id: z
      .string()
      .max(128)
      .nullish()
      .describe('The newest response of its conversation, which goes on. Not together with `conversation`.'),
    conversation: Conversation.nullish().describe(
      'Continues or begins this conversation. Without it and `previous_response_id`, the request stands alone, and its conversation is in no list.',
    ),
    instructions: z.literal('', { error: `must be empty: ${AGENTS_OWN}` }).nullish(),
    tools: z
      .array(z.unknown())
      .max(0, { error: `must be empty: ${AGENTS_OWN}` })
      .nullish(),
    tool_choice: z
      .enum(['auto', 'none'], { error: 'must be auto or none: the agent calls its own tools' })
      .nullish(),
    text: z
      .looseObject({
        format: z
          .looseObject({ type: z.literal('text', { error: 'must be text: agents write no other format' }) })
          .optional(),
      })
      .nullish(),
    background: z
      .literal(false, {
        error: 'must be false: with X-Parley-Delivery: detach, a turn waits without a stream',
      })
      .nullish(),
    prompt: z.null({ error: `is not taken: ${AGENTS_OWN}` }).optional(),
  })
  .meta({ id: 'ResponseRequest' });
export type ResponseRequest = z.infer<typeof ResponseRequest>;

/** Finds the text of a response's item by its id; undefined for an item that is not stored. */
type TextOfItem = (id: string) => Promise<string | undefined>;

/** An item that refers to the text of an earlier response. */
interface Reference {
  readonly reference: string;
  readonly path: string;
}

/**
 * The messages of a request. Throws `invalid_request` for items other than messages of users and assistants and references to
 * stored items.
 */
export async function messagesOf(
  input: ResponseRequest['input'],
  textOfItem: TextOfItem,
): Promise<ChatMessage[]> {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const read = input.map((item, at) => readItem(item, `input.${at}`)).filter((item) => item !== undefined);
  const texts = await textsOf(read.filter(isReference), textOfItem);
  return read.map((item) =>
    isReference(item) ? { role: 'assistant', content: texts.get(item.reference) } : item,
  );
}

function readItem(item: InputItem, path: string): ChatMessage | Reference | undefined {
  const { type, role, id, content } = item;
  if ((type === 'message' || type == null) && role !== undefined) {
    const message = { role, content };
    refuseInstructions(message, path);
    return message;
  }
  // A model's reasoning is not stored, and nobody reads it again.
  if (type === 'reasoning') return undefined;
  if (type !== 'item_reference' && !(type == null && id != null))
    throw refused(
      `${path}.type`,
      `is not taken: ${type ?? 'an item without a type'}. The agent makes its calls itself`,
    );
  return { reference: id ?? '', path: `${path}.id` };
}

function isReference(item: ChatMessage | Reference): item is Reference {
  return 'reference' in item;
}

/** The texts to which references point. Each is read once, one after another, so that a pod holds only one turn at a time. */
async function textsOf(
  references: readonly Reference[],
  textOfItem: TextOfItem,
): Promise<ReadonlyMap<string, string>> {
  const distinct = new Set<string>();
  for (const { reference, path } of references)
    if (distinct.add(reference).size > REFERENCES_MAX)
      throw refused(path, `is not taken: a request may refer to ${REFERENCES_MAX} different items`);
  const texts = new Map<string, string>();
  let bytes = 0;
  for (const { reference, path } of references) {
    const text = texts.get(reference) ?? (await textOfItem(reference));
    if (text === undefined) throw refused(path, `names no item that is kept: ${reference}`);
    texts.set(reference, text);
    bytes += Buffer.byteLength(text);
    if (bytes > REFERENCED_BYTES_MAX)
      throw refused(path, `is not taken: references may stand for ${REFERENCED_BYTES_MAX} bytes together`);
  }
  return texts;
}
