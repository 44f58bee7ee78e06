import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnFreePort } from '../../test/harness/free-port.ts';

/** A server for the Messages API, for programs that support no other API. */
export interface MessagesModel {
  /** The base URL, without `/v1`. */
  readonly url: string;
  /** The results of tools that it received, in order. */
  readonly results: readonly ToolResult[];
  stop(): void;
}

interface ToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: unknown;
  readonly is_error?: boolean;
}

interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly tools?: readonly { readonly name: string }[];
  readonly messages: readonly { readonly content: string | readonly { readonly type: string }[] }[];
}

/** The call that the model makes with its first tool, until it gets a result. */
export interface FirstCall {
  readonly name: string;
  readonly input: object;
}

/** Starts a model that makes one call, and says that it is done once it has the result. */
export async function startMessagesModel(call: FirstCall): Promise<MessagesModel> {
  const results: ToolResult[] = [];
  const server = createServer(async (req, res) => {
    if (req.method !== 'POST' || !req.url?.startsWith('/v1/messages')) return void res.writeHead(404).end();
    const { model, stream, tools = [], messages } = (await json(req)) as MessagesRequest;
    const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
    const got = blocks.filter((block): block is ToolResult => block.type === 'tool_result');
    results.splice(0, results.length, ...got);
    const isCalling = got.length === 0 && tools.some(({ name }) => name === call.name);
    const block = isCalling
      ? { type: 'tool_use', id: `toolu_${randomUUID()}`, ...call }
      : { type: 'text', text: 'It is done.' };
    const stop_reason = isCalling ? 'tool_use' : 'end_turn';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null, usage };
    if (stream === true) return sendEvents(res, message, { block, stop_reason });
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ ...message, content: [block], stop_reason }));
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    results,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Reply {
  readonly block: { readonly type: string; readonly text?: string; readonly input?: object };
  readonly stop_reason: string;
}

function sendEvents(res: ServerResponse, message: object, { block, stop_reason }: Reply): void {
  const isText = block.type === 'text';
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: isText
        ? { type: 'text_delta', text: block.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
    },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
}
