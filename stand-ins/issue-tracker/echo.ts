import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createTally, type TrackerCounts } from './counts.ts';
import { jsonOf, startLocalServer } from './http.ts';

interface EchoToolsOptions {
  /**
   * Headers that every request must contain, in lower case; otherwise it gets 401. They stand for a project's credential. By
   * default none.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** By default a free one. */
  readonly port?: number;
}

export interface EchoTools {
  /** The MCP endpoint. */
  readonly url: string;
  /** `withoutToken` counts requests in which a header was missing or wrong. */
  counts(): Pick<TrackerCounts, 'requests' | 'withoutToken' | 'methods' | 'tools'>;
  /** Stops at once and cuts open requests. */
  stop(): Promise<void>;
}

/**
 * Starts an MCP server on 127.0.0.1 that has no users. Its only tool, `echo`, returns its text. It is a stand-in for a tool
 * that a whole project uses with one credential or none.
 */
export async function startEchoTools({ headers = {}, port }: EchoToolsOptions = {}): Promise<EchoTools> {
  const tally = createTally();
  const handler = createMcpHandler(createEchoServer);
  let url = '';
  const server = await startLocalServer((origin) => {
    url = `${origin}/mcp`;
    return async (request) => {
      if (new URL(request.url).pathname !== '/mcp') return new Response(null, { status: 404 });
      const admitted = Object.entries(headers).every(([name, value]) => request.headers.get(name) === value);
      tally.noteRequest(admitted ? 'admitted' : 'no-token');
      if (!admitted) return new Response(null, { status: 401 });
      tally.noteBody(await jsonOf(request));
      return handler.fetch(request);
    };
  }, port);
  return {
    url,
    counts: tally.counts,
    async stop() {
      await handler.close();
      await server.stop();
    },
  };
}

function createEchoServer(): McpServer {
  const server = new McpServer({ name: 'echo-tools', title: 'Echo', version: '1.0.0' });
  server.registerTool(
    'echo',
    {
      title: 'Echo',
      description: 'Gives back the text it gets.',
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
}
