import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';

/**
 * Starts an MCP server whose one tool, `ticket`, asks by form and by url before it does anything. `onTicket` is called
 * with the message of each call that was completed.
 */
export async function startDesk(onTicket: (message: string) => void): Promise<ServedMcp> {
  return serveMcp(() => {
    const server = new McpServer({ name: 'desk', version: '1.0.0' });
    server.registerTool(
      'ticket',
      { description: 'Writes a ticket.', inputSchema: z.object({ message: z.string() }) },
      async ({ message }, { mcpReq }) => {
        const colour = acceptedContent<{ answer: string }>(mcpReq.inputResponses, 'colour')?.answer;
        if (colour === undefined)
          return inputRequired({
            inputRequests: {
              colour: inputRequired.elicit({
                message: `Which colour for ${message}?`,
                requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
              }),
              terms: inputRequired.elicitUrl({
                message: `Read the terms for ${message}.`,
                url: `https://desk.example/terms/${encodeURIComponent(message)}`,
              }),
            },
          });
        onTicket(message);
        return { content: [{ type: 'text', text: `A ${colour} ticket for ${message}.` }] };
      },
    );
    return server;
  });
}
