import { inputRequired, McpServer, ProtocolError, Server } from '@modelcontextprotocol/server';
import { CITY } from './asking.ts';
import { anyTool, said } from './tools.ts';

/** The revisions before 2026-07-28, or that one. */
export type Era = 'legacy' | 'modern';

/** Makes the server of one session, one process or one request. */
export type MakeServer = (era: Era) => McpServer | Server;

const ROUND = inputRequired({ inputRequests: { city: inputRequired.elicit(CITY as never) } });
const booked = (era: Era, answer: unknown) => said(`${era} ${JSON.stringify(answer)}`);

/** Servers of each stack, made as its documentation shows it. `calls` counts the calls of each tool. */
export function createRevisionServers(calls = new Map<string, number>()) {
  const counted = (name: string) => void calls.set(name, (calls.get(name) ?? 0) + 1);

  /** The TypeScript SDK 2. */
  const typescript: MakeServer = (era) => {
    const server = new McpServer({ name: 'typescript', version: '2.0.0' });
    server.registerTool('push', {}, async (context) => {
      counted('push');
      return booked(era, await context.mcpReq.elicitInput(CITY as never));
    });
    server.registerTool('rounds', {}, (context) => {
      counted('rounds');
      const { inputResponses } = context.mcpReq;
      return inputResponses === undefined ? ROUND : booked(era, inputResponses.city);
    });
    return server;
  };

  /**
   * A stand-in for servers of the Python SDK 2.3 (`python-…`) and of FastMCP 4 (`fastmcp-…`): what they do in each era was read
   * in their sources, and their words are theirs.
   */
  const python: MakeServer = (era) => {
    const server = new Server({ name: 'python', version: '2.3.0' }, { capabilities: { tools: {} } });
    const inOtherEra: Record<string, () => unknown> = {
      'python-elicit modern': () => {
        throw new ProtocolError(
          -32600,
          "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.",
        );
      },
      'python-rounds legacy': () => {
        throw new ProtocolError(-32603, 'Handler returned an invalid result');
      },
      'fastmcp-elicit modern': () => ({
        ...said('elicitation via server-initiated requests is unavailable on 2026-07-28 connections.'),
        isError: true,
      }),
      'fastmcp-guard legacy': () => {
        throw new ProtocolError(
          -32602,
          "Tool 'fastmcp-guard' returned an InputRequiredResult to request client input, but the multi-round-trip result type (SEP-2322) only exists at MCP 2026-07-28; this connection negotiated '2025-11-25'. Use ctx.elicit() for server-initiated input on handshake-era connections.",
        );
      },
    };
    const tools = ['python-elicit', 'python-resolve', 'python-rounds', 'fastmcp-elicit', 'fastmcp-guard'];
    server.setRequestHandler('tools/list', () => ({
      tools: [
        ...tools.map((name) => anyTool(name)),
        anyTool('python-rounds.harmless', { annotations: { readOnlyHint: true } }),
      ] as never,
    }));
    server.setRequestHandler('tools/call', async ({ params: { name } }, context) => {
      counted(name);
      const otherwise = inOtherEra[`${name.split('.')[0]} ${era}`];
      if (otherwise !== undefined) return otherwise() as never;
      const { inputResponses } = context.mcpReq;
      if (era === 'legacy') return booked(era, await context.mcpReq.elicitInput(CITY as never));
      return inputResponses === undefined ? ROUND : booked(era, inputResponses.city);
    });
    return server;
  };

  return { typescript, python, calls };
}
