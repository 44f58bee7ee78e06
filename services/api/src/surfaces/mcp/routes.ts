/** The routes of the MCP endpoint, for all revisions. Serving them is in `legacy/` and `modern/`. */

import { classifyInboundRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Authenticate } from '../../http/auth.ts';
import { problemOf } from '../../http/problem.ts';
import {
  ANYBODY,
  bearerFor,
  jsonBody,
  type Reply,
  type Route,
  type RouteCall,
  route,
  type Surface,
} from '../../http/route.ts';
import { createCalls } from './calls.ts';
import type { McpDeps } from './deps.ts';
import { CALL_EXAMPLE, METADATA_EXAMPLE, STREAM_EXAMPLE } from './examples.ts';
import { asEvent, noEvents, notAcceptable, takenBy } from './http/accept.ts';
import { challengeOf, MCP_PATH, type McpResource, METADATA_PATH, metadataReply } from './http/metadata.ts';
import { isOriginAllowed } from './http/origin.ts';
import { errorReply, isRequest, RPC, rpcErrorOf } from './json-rpc.ts';
import { createMisfits } from './legacy/misfits.ts';
import { createLegacyServing, SESSION_HEADER } from './legacy/serve.ts';
import { createModernServing } from './modern/serve.ts';

export interface McpRouteDeps extends McpDeps {
  /** Verifies tokens for this resource. */
  readonly authenticate: Authenticate;
  readonly resource: McpResource;
  /** Origins of pages that may call; `loopback` means every page of this machine. */
  readonly origins: ReadonlySet<string>;
}

const HEADERS = {
  'Mcp-Session-Id': 'The session of a client of revision 2025-11-25, as `initialize` returned it.',
  'Mcp-Protocol-Version': 'The revision that the client speaks.',
};

const POST_DOCS = {
  group: 'MCP',
  summary: 'Call agents by the Model Context Protocol',
  description:
    'Streamable HTTP, revisions 2025-11-25 and 2026-07-28. Errors are JSON-RPC errors. See docs/mcp-server.md.',
  headers: HEADERS,
  example: CALL_EXAMPLE,
  replies: {
    200: { description: 'A JSON-RPC message, or server-sent events' },
    202: { description: 'A notification or an answer was received' },
  },
  errors: ['not_found'],
} satisfies Route['docs'];

const GET_DOCS = {
  group: 'MCP',
  summary: 'Continue the stream of a call of a session',
  headers: { ...HEADERS, 'Last-Event-ID': 'The last event that the client has; on any pod.' },
  example: STREAM_EXAMPLE,
  replies: { 200: { description: 'Server-sent events', events: true } },
  errors: ['not_found'],
} satisfies Route['docs'];

const DELETE_DOCS = {
  group: 'MCP',
  summary: 'End a session',
  headers: HEADERS,
  example: { reply: '' },
  replies: { 204: { description: 'The session has ended' } },
  errors: ['not_found'],
} satisfies Route['docs'];

const METADATA_DOCS = {
  group: 'MCP',
  summary: 'Where a client gets a token (RFC 9728)',
  example: METADATA_EXAMPLE,
  replies: { 200: { description: 'The metadata', schema: z.looseObject({ resource: z.string() }) } },
} satisfies Route['docs'];

/** MCP over Streamable HTTP: agents as tools, for clients of revisions 2025-11-25 and 2026-07-28 at one address. */
export function mcpRoutes(deps: McpRouteDeps): Surface {
  const { origins, resource } = deps;
  const calls = createCalls(deps);
  const modern = createModernServing(deps, calls);
  const legacy = createLegacyServing({ ...deps, calls, misfits: createMisfits(deps) });
  const proof = bearerFor(deps.authenticate, 'user');

  function guarded(serve: (call: RouteCall) => Promise<Reply>) {
    return (call: RouteCall): Promise<Reply> =>
      isOriginAllowed(call.head, origins)
        ? serve(call)
        : Promise.resolve(errorReply(403, { code: RPC.transport, message: 'This origin may not call.' }));
  }

  /** Converts an error of the request to JSON-RPC. A request without a valid token is told where to get one. */
  const refuse: Route['refuse'] = (error, { head }) => {
    const { status, headers } = problemOf(error);
    const { 'content-type': _problem, ...others } = headers;
    const { code, ...rest } = rpcErrorOf(error);
    const challenge = status === 401 ? { 'www-authenticate': challengeOf(resource, head) } : {};
    return errorReply(status, { code: CODES[status] ?? code, ...rest }, null, { ...others, ...challenge });
  };

  async function post(call: RouteCall): Promise<Reply> {
    const takes = takenBy(call);
    if (!takes.json && !takes.events && isRequest(call.body)) return notAcceptable(call);
    const route = classifyInboundRequest({ httpMethod: 'POST', body: call.body, ...protocolHeaders(call) });
    const reply = await (route.kind === 'legacy' ? legacy.post(call, route.reason) : modern(call));
    return takes.json ? reply : asEvent(reply);
  }

  return {
    routes: [
      route({
        method: 'POST',
        path: MCP_PATH,
        proof,
        body: jsonBody(z.unknown()),
        refuse,
        docs: POST_DOCS,
        handle: guarded(post),
      }),
      route({
        method: 'GET',
        path: MCP_PATH,
        proof,
        opensStream: true,
        refuse,
        docs: GET_DOCS,
        handle: guarded(async (call) => (takenBy(call).events ? legacy.get(call) : noEvents(call))),
      }),
      route({
        method: 'DELETE',
        path: MCP_PATH,
        proof,
        refuse,
        docs: DELETE_DOCS,
        handle: guarded((call) => legacy.end(call)),
      }),
      route({
        method: 'GET',
        path: METADATA_PATH,
        proof: ANYBODY,
        docs: METADATA_DOCS,
        handle: async ({ head }) => metadataReply(resource, head),
      }),
    ],
    browserHeaders: {
      request: ['last-event-id', 'mcp-method', 'mcp-name', 'mcp-protocol-version', SESSION_HEADER],
      response: [SESSION_HEADER, 'www-authenticate'],
    },
  };
}

function protocolHeaders({ header }: RouteCall) {
  const [version, method, name] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map(header);
  return {
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  };
}

/** The JSON-RPC code, by HTTP status, of an error before a message was read. */
const CODES: Readonly<Record<number, number>> = {
  400: RPC.parse,
  401: RPC.transport,
  403: RPC.transport,
  413: RPC.transport,
  429: RPC.transport,
};
