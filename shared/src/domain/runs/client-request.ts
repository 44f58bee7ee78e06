import { z } from 'zod';

/** What an MCP server may ask the client of a call for, beside questions to a person: text of a model, and folders. */
export const CLIENT_METHODS = ['sampling/createMessage', 'roots/list'] as const;
export type ClientMethod = (typeof CLIENT_METHODS)[number];

/** What the client of a turn does for servers, as it declared it. */
export const ClientServices = z.looseObject({
  /** It has a model write a text; `tools`: with tools that the server gives to the model. */
  sampling: z.looseObject({ tools: z.boolean() }).optional(),
  /** It names the folders that it works in. */
  roots: z.boolean().optional(),
});
export type ClientServices = z.infer<typeof ClientServices>;

const Content = z.looseObject({ type: z.string() });

const RESULTS = {
  'sampling/createMessage': z.looseObject({
    role: z.enum(['user', 'assistant']),
    content: z.union([Content, z.array(Content)]),
    model: z.string(),
  }),
  'roots/list': z.looseObject({
    roots: z.array(z.looseObject({ uri: z.string(), name: z.string().optional() })),
  }),
} as const satisfies Record<ClientMethod, z.ZodType>;

export type ClientResult = Readonly<Record<string, unknown>>;

/** How a client replied to a request: with a result, or with an error as JSON-RPC has it. */
export const ClientReply = z.union([
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
]);
export type ClientReply = z.infer<typeof ClientReply>;

/** Bytes of a result as JSON. It is stored until the call has taken it. */
const RESULT_BYTES_MAX = 64_000;
const ERROR_LENGTH_MAX = 1_000;
const INTERNAL_ERROR = -32603;

const JsonRpcError = z.looseObject({ code: z.int(), message: z.string() });

/** Reads what a client sent in reply. What is not well formed, or too large, is an error in its place. */
export function readClientReply(
  method: ClientMethod,
  { result, error }: { readonly result?: unknown; readonly error?: unknown },
): ClientReply {
  const refused = JsonRpcError.safeParse(error);
  if (refused.success) return failed(refused.data.message.slice(0, ERROR_LENGTH_MAX), refused.data.code);
  const read = RESULTS[method].safeParse(result);
  if (!read.success) return failed('The reply of the client is not well formed.');
  return Buffer.byteLength(JSON.stringify(read.data)) > RESULT_BYTES_MAX
    ? failed('The reply of the client is too large.')
    : { result: read.data };
}

function failed(message: string, code = INTERNAL_ERROR): ClientReply {
  return { error: { code, message } };
}

/** A hint that the client has replied to a request: the pod that waits for the reply reads it. */
export const ClientReplied = z.object({ requestId: z.string() });
export type ClientReplied = z.infer<typeof ClientReplied>;
