import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type ServedMcp, serveMcp } from '../mcp-servers/serve-mcp.ts';

const CallInput = z.object({
  /** The conversation that calls. */
  name: z.string(),
  /** The ordinal of this call among the calls of the tool in this conversation, from 0. */
  round: z.int(),
});

const PayInput = CallInput.extend({ amount: z.int() });

/** A tool call as its server receives it. */
export interface BookingCall extends z.infer<typeof CallInput> {
  readonly tool: 'book' | 'look' | 'pay';
  readonly amount?: number;
  /** True for the tool whose calls must not be repeated. */
  readonly effect: boolean;
}

export interface BookingToolsOptions {
  /** How long a call takes, in ms. */
  readonly workMs: number;
  /** Called for each call that arrives; the reply waits until it resolves. */
  readonly onCall: (call: BookingCall) => Promise<void>;
}

/** Starts an MCP server with two tools that have an effect, `book` and `pay`, and one that has none, `look`. */
export async function startBookingTools({ workMs, onCall }: BookingToolsOptions): Promise<ServedMcp> {
  return serveMcp(() => {
    const server = new McpServer({ name: 'bookings', version: '1.0.0' });
    const answer = (call: BookingCall, text: string) => async () => {
      await onCall(call);
      await new Promise((resolve) => setTimeout(resolve, workMs));
      return { content: [{ type: 'text' as const, text }] };
    };
    server.registerTool('book', { description: 'Books.', inputSchema: CallInput }, (given) =>
      answer({ ...given, tool: 'book', effect: true }, `booked for ${given.name}`)(),
    );
    server.registerTool(
      'look',
      { description: 'Looks.', inputSchema: CallInput, annotations: { readOnlyHint: true } },
      (given) => answer({ ...given, tool: 'look', effect: false }, `seen ${given.name}`)(),
    );
    server.registerTool('pay', { description: 'Pays.', inputSchema: PayInput }, (given) =>
      answer({ ...given, tool: 'pay', effect: true }, `paid ${given.amount} for ${given.name}`)(),
    );
    return server;
  });
}
