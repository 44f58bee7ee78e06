import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { listenOnFreePort } from '../free-port.ts';
import type { Answer, Modern } from './asking.ts';
import { capabilitiesOf, INFO, namesOf, oldServer, watchedBy } from './old-server.ts';
import type { MakeServer } from './revisions.ts';
import { everyday, type Fixture } from './tools.ts';

/** `new`: 2026-07-28 by the v2 SDK, and nothing else. `old`: 2025-11-25 with sessions, by the v1 SDK. */
export type Revision = 'new' | 'old';

/** `both`: those two at one address. `stateless`: 2026-07-28, and 2025-11-25 without sessions. */
export type Offered = Revision | 'both' | 'stateless';

/** A request as it reached the server, before the SDK saw it. */
export type SeenRequest = {
  method: string;
  headers: IncomingMessage['headers'];
  /** The JSON-RPC method; nothing for a GET or DELETE. */
  rpc: string | undefined;
  /** The JSON-RPC id, if it has one. */
  id: unknown;
  /** The request that it cancels. */
  cancels: unknown;
  /** The token under which its progress is reported. */
  progressToken: unknown;
  /** Whether it has a `requestState`. */
  hasState: boolean;
  /** The tool of a `tools/call`. */
  tool: string | undefined;
};

export type McpServerOptions = {
  revision: Offered;
  fixture?: Fixture;
  /** Makes its servers, instead of those that have the tools of the fixture. */
  make?: MakeServer;
  /** How it refuses a session that it does not know; 404 by default. */
  unknownSession?: number;
  /** Answers instead of the server when it returns true. */
  instead?: (request: SeenRequest, reply: ServerResponse) => boolean;
};

/** An MCP server on 127.0.0.1. */
export type RunningMcpServer = {
  readonly url: string;
  /** Every request, growing. */
  readonly seen: readonly SeenRequest[];
  /** Requests of this JSON-RPC method so far. */
  count(rpc: string): number;
  /** Sockets that are open now. */
  readonly sockets: number;
  /** Sessions that are open now; none with `new`. */
  readonly sessions: number;
  /** Forgets all sessions, as a restart would. */
  forgetSessions(): void;
  /** Notifies clients that the list of tools changed. */
  toolsChanged(): Promise<void>;
  /** Notifies the clients that have subscribed to the resource that it changed. */
  resourceChanged(uri: string): Promise<void>;
  /** Cuts every connection, and takes new ones. */
  cut(): void;
  /** Cuts every connection and takes no more. */
  kill(): Promise<void>;
};

type NodeRequest = Parameters<ReturnType<typeof toNodeHandler>>[0];
type NodeReply = Parameters<ReturnType<typeof toNodeHandler>>[1];

/** Starts a server; `kill` it at the end. */
export async function startMcpServer(options: McpServerOptions): Promise<RunningMcpServer> {
  const seen: SeenRequest[] = [];
  const sockets = new Set<Socket>();
  const leg = legOf(options);
  const http = createServer((request, reply) => {
    void serve(request, reply).catch(() => reply.destroy());
  });
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  async function serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = request.method === 'POST' ? JSON.parse(await textOf(request)) : undefined;
    const one: SeenRequest = {
      method: request.method ?? '',
      headers: request.headers,
      rpc: body?.method,
      id: body?.id,
      progressToken: body?.params?._meta?.progressToken,
      cancels: body?.method === 'notifications/cancelled' ? body.params.requestId : undefined,
      hasState: body?.params?.requestState !== undefined,
      tool: body?.method === 'tools/call' ? body.params.name : undefined,
    };
    seen.push(one);
    if (options.instead?.(one, reply) === true) return;
    await leg.serve(request, reply, body);
  }

  const port = await listenOnFreePort(http);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    count: (rpc) => seen.filter((one) => one.rpc === rpc).length,
    get sockets() {
      return sockets.size;
    },
    get sessions() {
      return leg.sessions();
    },
    forgetSessions: leg.forgetSessions,
    toolsChanged: leg.toolsChanged,
    resourceChanged: leg.resourceChanged,
    cut: () => http.closeAllConnections(),
    kill: async () => {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

type Leg = {
  serve(request: IncomingMessage, reply: ServerResponse, body: unknown): Promise<void>;
  sessions(): number;
  forgetSessions(): void;
  toolsChanged(): Promise<void>;
  resourceChanged(uri: string): Promise<void>;
};

function legOf(options: McpServerOptions): Leg {
  if (options.revision === 'old') return oldLeg(options);
  const modern = newLeg(options);
  if (options.revision !== 'both') return modern;
  const legacy = oldLeg(options);
  const isModern = ({ headers }: IncomingMessage) => headers['mcp-protocol-version'] === '2026-07-28';
  return {
    ...legacy,
    serve: (request, reply, body) => (isModern(request) ? modern : legacy).serve(request, reply, body),
  };
}

function newLeg({ revision, make, fixture = everyday }: McpServerOptions): Leg {
  const handler = createMcpHandler(
    ({ era, requestInfo }) =>
      make?.(era) ?? newServer(fixture, requestInfo?.headers.get('authorization') ?? undefined),
    { legacy: revision === 'stateless' ? 'stateless' : 'reject' },
  );
  const serve = toNodeHandler(handler);
  return {
    serve: (request, reply, body) => serve(request as NodeRequest, reply as NodeReply, body),
    sessions: () => 0,
    forgetSessions: () => undefined,
    toolsChanged: async () => handler.notify.toolsChanged(),
    resourceChanged: async (uri) => handler.notify.resourceUpdated(uri),
  };
}

/** A server of the v2 SDK, for one request or for one stdio connection. */
export function newServer(fixture: Fixture, authorization?: string): Server {
  const server = new Server(INFO, { capabilities: capabilitiesOf(fixture) });
  const { content } = fixture;
  if (content !== undefined) {
    const { prompts, resources } = namesOf(content);
    const read = async (method: Parameters<typeof content.read>[0], params: object, context: ServerContext) =>
      (await content.read(method, { ...params }, { modern: modernOf(context) })) as never;
    server.setRequestHandler('prompts/list', () => ({ prompts }));
    server.setRequestHandler('resources/list', () => ({ resources }));
    server.setRequestHandler('prompts/get', ({ params }, context) => read('prompts/get', params, context));
    server.setRequestHandler('resources/read', ({ params }, context) =>
      read('resources/read', params, context),
    );
  }
  server.setRequestHandler('tools/list', ({ params }) => fixture.list(params?.cursor) as never);
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const progress = (done: number, total: number) =>
      context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken: context.mcpReq._meta?.progressToken ?? '', progress: done, total },
      });
    const log = (data: string) =>
      context.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
    return (await fixture.call(params.name, params.arguments ?? {}, {
      authorization,
      progress,
      log,
      modern: modernOf(context),
    })) as never;
  });
  return server;
}

function modernOf({ mcpReq }: ServerContext): Modern {
  return {
    require: (requests, requestState) =>
      inputRequired({
        inputRequests: Object.fromEntries(
          Object.entries(requests).map(([key, one]) => [key, { method: 'elicitation/create', params: one }]),
        ) as never,
        ...(requestState !== undefined && { requestState }),
      }),
    responses: mcpReq.inputResponses as Record<string, Answer> | undefined,
    state: mcpReq.requestState(),
    capabilities: () =>
      (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY],
  };
}

/** A server that announces what changed. */
interface Announcing {
  sendToolListChanged?(): unknown;
  sendResourceUpdated?(changed: { uri: string }): unknown;
}

function oldLeg({ make, fixture = everyday, unknownSession = 404 }: McpServerOptions): Leg {
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: Announcing }>();

  async function open(): Promise<StreamableHTTPServerTransport> {
    const server = make?.('legacy') ?? oldServer(fixture);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, server });
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    await server.connect(transport as never);
    return transport;
  }

  return {
    serve: async (request, reply, body) => {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? sessions.get(id)?.transport : undefined;
      if (id !== undefined && known === undefined) {
        reply.writeHead(unknownSession, { 'content-type': 'application/json' });
        reply.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
        return;
      }
      await (known ?? (await open())).handleRequest(request, reply, body);
    },
    sessions: () => sessions.size,
    forgetSessions: () => sessions.clear(),
    toolsChanged: async () => {
      for (const { server } of sessions.values()) await server.sendToolListChanged?.();
    },
    resourceChanged: async (uri) => {
      for (const { server } of sessions.values())
        if (watchedBy(server).has(uri)) await server.sendResourceUpdated?.({ uri });
    },
  };
}
