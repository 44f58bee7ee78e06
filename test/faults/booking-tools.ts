import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startLocalServer } from '../../infra/demo/stand-ins/issue-tracker-http.ts';

/** A tool server of a test. */
export interface BookingTools {
  /** The MCP endpoint. */
  readonly url: string;
  /** What was booked, in order: a name stands there as often as it was booked. */
  readonly booked: readonly string[];
  stop(): Promise<void>;
}

/** Starts an MCP server with one tool that has an effect, and one that has none. Both take `workMs`. */
export async function startBookingTools({ workMs }: { readonly workMs: number }): Promise<BookingTools> {
  const booked: string[] = [];
  const input = z.object({ name: z.string() });
  const worked = () => new Promise((resolve) => setTimeout(resolve, workMs));
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'bookings', version: '1.0.0' });
    server.registerTool('book', { description: 'Books.', inputSchema: input }, async ({ name }) => {
      booked.push(name);
      await worked();
      return { content: [{ type: 'text', text: `booked for ${name}` }] };
    });
    server.registerTool(
      'look',
      { description: 'Looks.', inputSchema: input, annotations: { readOnlyHint: true } },
      async ({ name }) => {
        await worked();
        return { content: [{ type: 'text', text: `seen ${name}` }] };
      },
    );
    return server;
  });
  let url = '';
  const server = await startLocalServer((origin) => {
    url = `${origin}/mcp`;
    return (request) => handler.fetch(request);
  });
  return {
    url,
    booked,
    async stop() {
      await handler.close();
      await server.stop();
    },
  };
}
