import { createMcpHandler } from '@modelcontextprotocol/server';
import { startLocalServer } from '../../../stand-ins/issue-tracker/http.ts';

/** An MCP server of a test. */
export interface ServedMcp {
  /** The MCP endpoint. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves the servers that `factory` makes, over HTTP in both revisions. */
export async function serveMcp(factory: Parameters<typeof createMcpHandler>[0]): Promise<ServedMcp> {
  const handler = createMcpHandler(factory);
  let url = '';
  const server = await startLocalServer((origin) => {
    url = `${origin}/mcp`;
    return (request) => handler.fetch(request);
  });
  return {
    url,
    async stop() {
      await handler.close();
      await server.stop();
    },
  };
}
