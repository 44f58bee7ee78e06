import { CallerId } from '@parley/shared/domain/elicitations/ask-input';
import { ParleyError } from '@parley/shared/domain/errors';
import { z } from 'zod';
import type { ChatMessage } from '../../turns/messages.ts';

const ITEMS_MAX = 1_000;
const AGENTS = 'agents have it from their configuration';

const InputItem = z.looseObject({
  type: z.string().nullish(),
  id: z.string().nullish(),
  role: z.string().optional(),
});
type InputItem = z.infer<typeof InputItem>;

const Conversation = z.union([CallerId, z.looseObject({ id: CallerId })]);

/**
 * A turn as clients of the Responses API ask for it. What would change the meaning of the reply and is not done is refused; what
 * tunes a model (such as `temperature`) is the agent's, and is not read.
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
    instructions: z.literal('', { error: `must be empty: ${AGENTS}` }).nullish(),
    tools: z
      .array(z.unknown())
      .max(0, { error: `must be empty: ${AGENTS}` })
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
    prompt: z.null({ error: `is not taken: ${AGENTS}` }).optional(),
  })
  .meta({ id: 'ResponseRequest' });
export type ResponseRequest = z.infer<typeof ResponseRequest>;

/** What an item of a response said, by the id of the item; undefined for an item that is not kept. */
export type TextOfItem = (id: string) => Promise<string | undefined>;

/** The messages of a request. Throws `invalid_request` for items that are no messages. */
export async function messagesOf(
  input: ResponseRequest['input'],
  textOfItem: TextOfItem,
): Promise<ChatMessage[]> {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const read = await Promise.all(input.map((item, at) => messageOf(item, `input.${at}`, textOfItem)));
  return read.filter((message) => message !== undefined);
}

async function messageOf(
  item: InputItem,
  path: string,
  textOfItem: TextOfItem,
): Promise<ChatMessage | undefined> {
  const { type, role, id } = item;
  if ((type === 'message' || type == null) && role !== undefined) return { role, content: item.content };
  // What a model thought is not kept, and nobody reads it again.
  if (type === 'reasoning') return undefined;
  if (type !== 'item_reference' && !(type == null && id != null))
    throw refused(
      `${path}.type`,
      `is not taken: ${type ?? 'an item without a type'}. The agent makes its calls itself`,
    );
  const content = await textOfItem(id ?? '');
  if (content === undefined) throw refused(`${path}.id`, `names no item that is kept: ${id}`);
  return { role: 'assistant', content };
}

/** The error of a request with one wrong field. */
export function refused(path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', 'The body is not well formed; see errors.', {
    issues: [{ path, message }],
  });
}
