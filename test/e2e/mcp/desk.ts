import { acceptedContent, inputRequired, inputResponse, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ServedMcp, serveMcp } from '../../harness/mcp-servers/serve-mcp.ts';

const INPUT = z.object({ message: z.string() });

const termsOf = (message: string) =>
  inputRequired.elicitUrl({
    message: `Read the terms for ${message}.`,
    url: `https://desk.example/terms/${encodeURIComponent(message)}`,
  });
const says = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/**
 * Starts an MCP server with three tools: `ticket` asks by form and by url before it does anything, `sign` by url alone, and
 * `stamp` does not ask. `onEnd` is called with the last word of the message of each call that has ended, and with whether
 * the call did anything: the person may have agreed to nothing.
 */
export async function startDesk(onEnd: (name: string, isDone: boolean) => void): Promise<ServedMcp> {
  const end = (message: string, isDone: boolean) => onEnd(message.split(' ').at(-1) ?? '', isDone);
  return serveMcp(() => {
    const server = new McpServer({ name: 'desk', version: '1.0.0' });
    server.registerTool(
      'ticket',
      { description: 'Writes a ticket.', inputSchema: INPUT },
      async ({ message }, { mcpReq }) => {
        const colour = acceptedContent<{ answer: string }>(mcpReq.inputResponses, 'colour')?.answer;
        if (colour === undefined)
          return inputRequired({
            inputRequests: {
              colour: inputRequired.elicit({
                message: `Which colour for ${message}?`,
                requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
              }),
              terms: termsOf(message),
            },
          });
        end(message, true);
        return says(`A ${colour} ticket for ${message}.`);
      },
    );
    server.registerTool(
      'sign',
      { description: 'Signs.', inputSchema: INPUT },
      async ({ message }, { mcpReq }) => {
        const terms = inputResponse(mcpReq.inputResponses, 'terms');
        if (terms.kind !== 'elicit') return inputRequired({ inputRequests: { terms: termsOf(message) } });
        end(message, terms.action === 'accept');
        return says(terms.action === 'accept' ? `Signed ${message}.` : `Not signed: ${terms.action}.`);
      },
    );
    server.registerTool('stamp', { description: 'Stamps.', inputSchema: INPUT }, ({ message }) => {
      end(message, true);
      return says(`Stamped ${message}.`);
    });
    return server;
  });
}
