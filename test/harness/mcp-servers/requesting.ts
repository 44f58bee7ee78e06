/** A server whose tools and prompts ask their client, in each revision. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { Server as OldServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { listenOnFreePort } from '../free-port.ts';
import type { Revision } from './mcp-servers.ts';
import { anyTool, said } from './tools.ts';

type Requests = Readonly<Record<string, { readonly method: string; readonly params: object }>>;

export const sampling = (text: string, more: object = {}) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 50, ...more },
});
const roots = { method: 'roots/list', params: {} };
const question = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Which city?',
    requestedSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** What each tool asks for, by its text, and the prompt of the same name. */
const ASKS: Readonly<Record<string, (text: string) => Requests>> = {
  write: (text) => ({ text: sampling(text) }),
  context: (text) => ({ text: sampling(text, { includeContext: 'allServers', systemPrompt: 'Be brief.' }) }),
  tools: (text) => ({ text: sampling(text, { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }) }),
  twice: (text) => ({ first: sampling(text), second: sampling(`more ${text}`) }),
  halfway: (text) => ({ text: sampling(text), city: question }),
  folders: () => ({ folders: roots }),
  all: (text) => ({ city: question, text: sampling(text), folders: roots }),
};
/** In the 2026 revision it asks for text, whatever the client has declared. */
export const UNDECLARED = 'undeclared';
/** In the 2025 revision it asks for text, and returns its result without it. */
export const UNAWAITED = 'unawaited';
const LIST = { tools: [...Object.keys(ASKS), UNDECLARED, UNAWAITED].map((name) => anyTool(name)) };
const PROMPTS = { prompts: Object.keys(ASKS).map((name) => ({ name })) };
const INFO = { name: 'requesting', version: '1.0.0' };

export interface RequestingServer {
  readonly url: string;
  /** What was answered to each call that had its effect. */
  readonly effects: string[];
  /** The errors that were returned to requests; in the 2025 revision only. */
  readonly errors: { readonly code?: number; readonly message: string }[];
  /** Lets `unawaited` return its result. */
  returnUnawaited(): void;
  kill(): Promise<void>;
}

type Served = Pick<RequestingServer, 'effects' | 'errors'>;

/** Starts a server; `kill` it at the end. */
export async function startRequestingServer(revision: Revision): Promise<RequestingServer> {
  const served: Served = { effects: [], errors: [] };
  let returnUnawaited: () => void = () => undefined;
  const returned = new Promise<void>((resolve) => {
    returnUnawaited = resolve;
  });
  const serve = revision === 'new' ? newServing(served) : oldServing(served, returned);
  const http = createServer((request, reply) => void serve(request, reply).catch(() => reply.destroy()));
  const port = await listenOnFreePort(http);
  return {
    ...served,
    returnUnawaited,
    url: `http://127.0.0.1:${port}/mcp`,
    async kill() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function done({ effects }: Served, answers: unknown) {
  effects.push(JSON.stringify(answers));
  return said(JSON.stringify(answers));
}

/** What a prompt says, which has no effect. */
const toldBy = (answers: unknown) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text: JSON.stringify(answers) } }],
});

function asksOf({
  name,
  arguments: args,
}: {
  readonly name: string;
  readonly arguments?: object | undefined;
}) {
  const { message = '' } = (args ?? {}) as { readonly message?: string };
  return ASKS[name]?.(message) ?? {};
}

/** A free port may have been that of another server before, to which a pod of another test still turns. */
function refuseUnknown(name: string): void {
  if (!(name in ASKS)) throw new Error(`There is no tool ${name}.`);
}

function newServing(served: Served) {
  const create = () => {
    const server = new Server(INFO, { capabilities: { tools: {}, prompts: {} } });
    server.setRequestHandler('tools/list', () => LIST as never);
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      refuseUnknown(params.name);
      return mcpReq.inputResponses === undefined
        ? inputRequired({ inputRequests: asksOf(params) as never, requestState: 'asked' })
        : done(served, mcpReq.inputResponses);
    });
    server.setRequestHandler('prompts/list', () => PROMPTS);
    server.setRequestHandler('prompts/get', async ({ params }, { mcpReq }) =>
      mcpReq.inputResponses === undefined
        ? inputRequired({ inputRequests: asksOf(params) as never, requestState: 'asked' })
        : toldBy(mcpReq.inputResponses),
    );
    return server;
  };
  const handle = toNodeHandler(createMcpHandler(create, { legacy: 'reject' }));
  return async (request: IncomingMessage, reply: ServerResponse) => {
    const body = request.method === 'POST' ? JSON.parse(await textOf(request)) : undefined;
    // No SDK asks for what was not declared.
    if (body?.params?.name !== UNDECLARED) return handle(request as never, reply as never, body);
    const result = { resultType: 'input_required', inputRequests: { text: sampling('') } };
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
  };
}

type SendRequest = Parameters<Parameters<OldServer['setRequestHandler']>[1]>[1]['sendRequest'];

/** Asks all of it at once, on the stream of the request. */
async function answersTo(params: Parameters<typeof asksOf>[0], sendRequest: SendRequest) {
  const asked = Object.entries(asksOf(params)).map(async ([key, request]) => [
    key,
    await sendRequest(request as never, ResultSchema, { timeout: 60_000 }),
  ]);
  return Object.fromEntries(await Promise.all(asked)) as object;
}

function oldServing(served: Served, returned: Promise<void>) {
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  async function open(): Promise<StreamableHTTPServerTransport> {
    const server = new OldServer(INFO, { capabilities: { tools: {}, prompts: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => LIST as never);
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendRequest }) => {
      if (params.name === UNAWAITED) {
        sendRequest(sampling('') as never, ResultSchema).catch(() => undefined);
        await returned;
        return said('without the text');
      }
      refuseUnknown(params.name);
      try {
        return done(served, await answersTo(params, sendRequest));
      } catch (error) {
        served.errors.push(error as Error);
        throw error;
      }
    });
    server.setRequestHandler(ListPromptsRequestSchema, () => PROMPTS);
    server.setRequestHandler(GetPromptRequestSchema, async ({ params }, { sendRequest }) =>
      toldBy(await answersTo(params, sendRequest)),
    );
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await server.connect(transport as never);
    return transport;
  }

  return async (request: IncomingMessage, reply: ServerResponse) => {
    const body = request.method === 'POST' ? JSON.parse(await textOf(request)) : undefined;
    const known = sessions.get(String(request.headers['mcp-session-id']));
    await (known ?? (await open())).handleRequest(request, reply, body);
  };
}
