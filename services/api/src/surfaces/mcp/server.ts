import { Server } from '@modelcontextprotocol/server';
import type { Caller } from '@parley/shared/elicitations/caller';
import type { McpDeps } from './deps.ts';
import { toolsPage } from './offer.ts';

/** Revisions with a session that this server speaks, the preferred one first. */
export const SESSION_REVISIONS = ['2025-11-25', '2025-06-18'];

/** The server of one request: what it is, and the tools that its caller may use. Calls are added by era. */
export function createMcpServer(
  { turns, version, extend }: Pick<McpDeps, 'turns' | 'version' | 'extend'>,
  caller: Caller,
  options: Partial<ConstructorParameters<typeof Server>[1]> = {},
): Server {
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    {
      instructions:
        'A tool that takes a message is an agent. Give it a task in plain words. It asks the user itself when it needs to.',
      ...options,
      capabilities: { tools: {} },
    },
  );
  server.setRequestHandler('tools/list', async ({ params }, { mcpReq }) =>
    toolsPage(await turns.listOffered(caller, mcpReq.signal), params?.cursor),
  );
  extend?.(server);
  return server;
}
