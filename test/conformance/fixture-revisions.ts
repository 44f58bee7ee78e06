import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

/** What answers a request of HTTP. */
interface Handler {
  fetch(request: Request): Promise<Response>;
}

/** Serves 2026-07-28 and nothing else. */
export function serveNewRevision(create: () => Server): Handler {
  return createMcpHandler(create, { legacy: 'reject' });
}

/** Serves 2026-07-28, and 2025-11-25 with sessions, in which the server can send requests of its own. */
export function serveBothRevisions(create: () => Server): Handler {
  const modern = serveNewRevision(create);
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return {
    async fetch(request) {
      if (!(await isLegacyRequest(request))) return modern.fetch(request);
      const named = request.headers.get('mcp-session-id');
      if (named !== null)
        return sessions.get(named)?.handleRequest(request) ?? new Response(null, { status: 404 });
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
        onsessionclosed: (id) => void sessions.delete(id),
      });
      await create().connect(transport);
      return transport.handleRequest(request);
    },
  };
}
