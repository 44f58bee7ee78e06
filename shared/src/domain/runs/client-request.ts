import { z } from 'zod';

/**
 * What an MCP server may request of the client of a call, apart from questions to a person: text from a model, and the client's
 * folders.
 */
export const CLIENT_METHODS = ['sampling/createMessage', 'roots/list'] as const;
export type ClientMethod = (typeof CLIENT_METHODS)[number];

/** The services that the client of a turn declared for MCP servers. */
export const ClientServices = z.looseObject({
  /**
   * Present when the client has a model that writes texts for servers. `tools` is true when that model can use tools of the
   * server.
   */
  sampling: z.looseObject({ tools: z.boolean() }).optional(),
  /** True when the client tells the folders in which it works. */
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

/** A client's reply to a request: a result, or a JSON-RPC error. */
export const ClientReply = z.union([
  z.object({ result: z.record(z.string(), z.unknown()) }),
  z.object({ error: z.object({ code: z.int(), message: z.string() }) }),
]);
export type ClientReply = z.infer<typeof ClientReply>;

/** The maximum size of a result as JSON. A result is stored until the call has taken it. */
const RESULT_BYTES_MAX = 64_000;
const ERROR_LENGTH_MAX = 1_000;
const INTERNAL_ERROR = -32603;

const JsonRpcError = z.looseObject({ code: z.int(), message: z.string() });

/** Parses a client's reply. A malformed or too large reply becomes an error reply. */
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

/** A hint that the client has replied to a request. The pod that waits for the reply then reads it. */
export const ClientReplied = z.object({ requestId: z.string() });
export type ClientReplied = z.infer<typeof ClientReplied>;
