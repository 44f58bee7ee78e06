/** Starts an MCP server with issues for tests and the demo. Tools are in `tools.ts`, access is in `gate.ts`. */

import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  type McpHttpHandler,
  type McpServerFactory,
} from '@modelcontextprotocol/server';
import { createTally, messagesOf, type RpcRequest, type Tally, type TrackerCounts } from './counts.ts';
import { createFaultQueue, type FaultQueue, type FaultTarget, type TrackerFault } from './faults.ts';
import { type Admission, admit, challengeBadToken, type Gate, type Verify } from './gate.ts';
import { jsonOf, type Serve, startLocalServer, untilLeft } from './http.ts';
import { createIssueStore, type Execution, type Issue } from './store.ts';
import { createFixedServer, createTrackerServer } from './tools.ts';

export interface IssueTrackerOptions {
  readonly verify: Verify;
  /** The issuer in the protected resource metadata; by default none. */
  readonly authorizationServer?: string;
  /** Scopes that a token must have, otherwise the reply is 403; by default none. */
  readonly scopes?: readonly string[];
  /** True if tokens must be bound to a key (DPoP); by default bearer tokens are accepted. */
  readonly bound?: boolean;
  /** By default a free one. */
  readonly port?: number;
}

export interface IssueTracker {
  /** The MCP endpoint, which is also the resource of the tokens (RFC 8707). */
  readonly url: string;
  counts(): TrackerCounts;
  /** A person's issues. Every person starts with two. */
  issuesOf(subject: string): readonly Issue[];
  /** All changes made, in order. */
  readonly executions: readonly Execution[];
  /** Makes the next tool call fail, or the next call of a certain tool or person. */
  failNext(fault: TrackerFault, target?: FaultTarget): void;
  /** Stops at once and cuts open requests. */
  stop(): Promise<void>;
}

const PATH = '/mcp';
const METADATA_PATH = '/.well-known/oauth-protected-resource';

/**
 * Starts an MCP server for issues on 127.0.0.1, over Streamable HTTP, for clients of the 2025 revisions and of 2026-07-28.
 * Every request needs a person's bearer token, and each person sees their own issues. It is a stand-in for a real service, and
 * counts what reaches it.
 */
export async function startIssueTracker(options: IssueTrackerOptions): Promise<IssueTracker> {
  const store = createIssueStore();
  const faults = createFaultQueue();
  const tally = createTally();
  const handler = createMcpHandler(
    perSubject((subject) => createTrackerServer({ store, subject, onExecuted: tally.noteExecution })),
  );
  let url = '';
  const server = await startLocalServer((origin) => {
    url = `${origin}${PATH}`;
    const gate = {
      verify: options.verify,
      scopes: options.scopes ?? [],
      bound: options.bound === true,
      metadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(url)),
    };
    return routes({ url, gate, handler, faults, tally, authorizationServer: options.authorizationServer });
  }, options.port);
  return {
    url,
    counts: tally.counts,
    issuesOf: (subject) => structuredClone(store.issuesOf(subject)),
    executions: tally.executions,
    failNext: faults.add,
    async stop() {
      await handler.close();
      await server.stop();
    },
  };
}

interface Deps {
  readonly url: string;
  readonly gate: Gate;
  readonly handler: McpHttpHandler;
  readonly faults: FaultQueue;
  readonly tally: Tally;
  readonly authorizationServer: string | undefined;
}

function routes(deps: Deps): Serve {
  return async (request, cut) => {
    const { pathname } = new URL(request.url);
    // Clients try the address below the endpoint's path first, then the one at the root.
    if (pathname === METADATA_PATH || pathname === `${METADATA_PATH}${PATH}`) return metadata(deps);
    if (pathname !== PATH) return new Response(null, { status: 404 });
    const admission = await admit(request, deps.gate);
    deps.tally.noteRequest(admission.kind);
    return admission.kind === 'admitted' ? call(request, cut, admission, deps) : admission.reply;
  };
}

function metadata({ url, gate, authorizationServer }: Deps): Response {
  return Response.json({
    resource: url,
    resource_name: 'Issue tracker',
    bearer_methods_supported: ['header'],
    ...(authorizationServer !== undefined && { authorization_servers: [authorizationServer] }),
    ...(gate.scopes.length > 0 && { scopes_supported: gate.scopes }),
  });
}

type Admitted = Extract<Admission, { kind: 'admitted' }>;

async function call(request: Request, cut: () => void, admitted: Admitted, deps: Deps): Promise<Response> {
  const body = await jsonOf(request);
  deps.tally.noteBody(body);
  const serve = (by = deps.handler) =>
    by.fetch(request, { authInfo: admitted.authInfo, ...(body !== undefined && { parsedBody: body }) });
  const toolCall = messagesOf(body).find(({ method }) => method === 'tools/call');
  if (toolCall === undefined) return serve();
  const tool = toolCall.params?.name ?? '';
  const fault = deps.faults.take(tool, admitted.bearer.subject);
  return fault === undefined ? serve() : fail({ fault, request, toolCall, tool, serve, cut }, deps);
}

interface FailingCall {
  readonly fault: TrackerFault;
  readonly request: Request;
  readonly toolCall: RpcRequest;
  readonly tool: string;
  readonly serve: (by?: McpHttpHandler) => Promise<Response>;
  readonly cut: () => void;
}

const FAULT_MESSAGE = 'The tracker was ordered to fail here.';

async function fail(
  { fault, request, toolCall, tool, serve, cut }: FailingCall,
  { gate, tally }: Deps,
): Promise<Response> {
  switch (fault.kind) {
    case 'tool-error':
      return serve(createMcpHandler(() => createFixedServer(tool, fault.message ?? FAULT_MESSAGE, true)));
    case 'huge':
      return serve(createMcpHandler(() => createFixedServer(tool, 'x'.repeat(fault.characters), false)));
    case 'rpc-error':
      return Response.json({
        jsonrpc: '2.0',
        id: toolCall.id ?? null,
        error: { code: -32603, message: FAULT_MESSAGE },
      });
    case 'status':
      if (fault.status !== 401) return new Response(null, { status: fault.status });
      tally.noteUnauthorized();
      return challengeBadToken(gate);
    case 'hang':
      await untilLeft(request);
      return unreadResponse();
    case 'cut':
      cut();
      return unreadResponse();
    case 'lost-reply':
      await (await serve()).arrayBuffer();
      cut();
      return unreadResponse();
  }
}

function perSubject(serverOf: (subject: string) => ReturnType<typeof createTrackerServer>): McpServerFactory {
  return ({ authInfo }) => {
    const subject = authInfo?.extra?.subject;
    if (typeof subject !== 'string') throw new Error('a request came past the gate');
    return serverOf(subject);
  };
}

function unreadResponse(): Response {
  return new Response(null, { status: 503 });
}
