/** Reads and refuses chat completions requests as real endpoints do. Replies are made in `reply.ts`. */

import { z } from 'zod';

const Part = z.looseObject({ type: z.string(), text: z.string().optional() });
const Content = z.union([z.string(), z.array(Part).min(1)]);

const ToolCall = z.looseObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
});

const System = z.looseObject({ role: z.enum(['system', 'developer']), content: Content });
const User = z.looseObject({ role: z.literal('user'), content: Content });
const Assistant = z
  .looseObject({
    role: z.literal('assistant'),
    content: Content.nullish(),
    tool_calls: z.array(ToolCall).min(1).optional(),
  })
  .refine(({ content, tool_calls }) => content != null || tool_calls !== undefined, {
    message: 'expected content or tool_calls',
  });
const Tool = z.looseObject({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: Content });

/** One message of a chat completions request. */
export const ChatMessage = z.union([System, User, Assistant, Tool]);
export type ChatMessage = z.infer<typeof ChatMessage>;

const ToolOffer = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    // The names that real endpoints accept, so that a tool name which they would refuse is refused here too.
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().optional(),
    parameters: z.looseObject({ type: z.literal('object') }).optional(),
  }),
});

/** The members of a `POST /v1/chat/completions` body that a script reads. Other members are kept. */
export const ChatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(ChatMessage).min(1),
  tools: z.array(ToolOffer).min(1).optional(),
  tool_choice: z.unknown().optional(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** The body of the reply to a refused request. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param: string | null;
}

/** A refusal in the form that OpenAI's own client reads. */
export function errorBody({ message, type, code, param }: Refusal): {
  error: Omit<Refusal, 'status'>;
} {
  return { error: { message, type, param, code } };
}

export function invalidRequest(message: string, more: Partial<Refusal> = {}): Refusal {
  return { status: 400, message, type: 'invalid_request_error', code: null, param: null, ...more };
}

/** Reads a request's body. A refusal names its first fault. */
export function readChatRequest(body: unknown): { request: ChatRequest } | { refusal: Refusal } {
  const read = ChatRequest.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const param = issue === undefined ? '' : z.core.toDotPath(issue.path);
    return { refusal: invalidRequest(`Invalid '${param}': ${issue?.message ?? 'not valid'}`, { param }) };
  }
  const fault = faultOfTools(read.data) ?? faultOfOrder(read.data.messages);
  return fault === undefined ? { request: read.data } : { refusal: invalidRequest(fault) };
}

/** The text of a message's content, its parts joined. */
export function textOf(content: ChatMessage['content']): string {
  if (content == null) return '';
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('');
}

function faultOfTools({ tools = [] }: ChatRequest): string | undefined {
  const names = tools.map((tool) => tool.function.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? undefined : `Invalid 'tools': the name '${twice}' is offered twice`;
}

/** The fault of a history in which a tool call has no result or a result has no call. Real endpoints refuse these too. */
function faultOfOrder(messages: readonly ChatMessage[]): string | undefined {
  const open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id))
        return `Invalid 'messages[${index}]': a message with role 'tool' must answer a preceding 'tool_calls'`;
      continue;
    }
    if (open.size > 0) break;
    if (message.role === 'assistant') for (const { id } of message.tool_calls ?? []) open.add(id);
  }
  return open.size === 0
    ? undefined
    : `An assistant message with 'tool_calls' must be followed by tool messages for each: ${[...open].join(', ')}`;
}
