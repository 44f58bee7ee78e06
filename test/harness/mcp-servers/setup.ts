import type { ServerResponse } from 'node:http';
import {
  createMcpTools,
  type McpTools,
  type McpToolsOptions,
} from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { textOf } from '../../../services/api/src/agents/mcp/content.ts';
import type { McpLimits } from '../../../services/api/src/agents/mcp/limits.ts';
import type { McpCallReply } from '../../../services/api/src/agents/mcp/results.ts';
import type { McpCredential, McpServerConfig } from '../../../services/api/src/agents/mcp/server-config.ts';
import { bundleEntry } from '../processes/bundle.ts';
import {
  type McpServerOptions,
  type Revision,
  type RunningMcpServer,
  type SeenRequest,
  startMcpServer,
} from './mcp-servers.ts';

export const REVISIONS: readonly Revision[] = ['new', 'old'];

/** Starts servers and clients, and ends them all. */
export type McpBench = {
  server: (options: McpServerOptions) => Promise<RunningMcpServer>;
  client: (
    limits?: Partial<McpLimits>,
    onStderr?: (id: string, line: string) => void,
    onRevision?: NonNullable<McpToolsOptions['onRevision']>,
  ) => McpTools;
  /** To be called after each test. */
  close: () => Promise<void>;
};

export function createMcpBench(): McpBench {
  const endings: (() => Promise<void>)[] = [];
  return {
    server: async (options) => {
      const server = await startMcpServer(options);
      endings.push(server.kill);
      return server;
    },
    client: (limits = {}, onStderr = () => undefined, onRevision = () => undefined) => {
      const client = createMcpTools({
        clientInfo: { name: 'parley-test', version: '1.0.0' },
        // A server starts slowly on a busy machine.
        limits: { connectTimeoutMs: 60_000, killGraceMs: 300, ...limits },
        onStderr,
        onRevision,
      });
      endings.push(() => client.close());
      return client;
    },
    // The clients first: they were made after the servers they talk to.
    close: async () => {
      for (const end of endings.splice(0).reverse()) await end();
    },
  };
}

/** A server over HTTP. */
export function httpConfig(url: string, headers: Record<string, string> = {}): McpServerConfig {
  return { id: 'tracker', title: 'Issue tracker', transport: { type: 'http', url, headers } };
}

/** The program of stdio.ts. */
export async function stdioConfig(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<McpServerConfig> {
  const program = await bundleEntry('test/harness/mcp-servers/stdio.ts');
  return {
    id: 'local',
    title: 'Local program',
    transport: {
      type: 'stdio',
      command: process.execPath,
      args: [program, ...args],
      env,
    },
  };
}

/** A user's credential. */
export function bearer(user: string, token = `token-of-${user}`): McpCredential {
  return { key: user, headers: { Authorization: `Bearer ${token}` } };
}

/** The text of a result, or the whole outcome of a call that has none. */
export function saidIn(result: McpCallReply): string {
  return result.type === 'result' ? textOf(result.content) : JSON.stringify(result);
}

/** What a server replies to calls, instead of its tools. */
export function toCalls(
  answer: (reply: ServerResponse, request: SeenRequest) => unknown,
): NonNullable<McpServerOptions['instead']> {
  return (request, reply) => {
    if (request.rpc !== 'tools/call') return false;
    answer(reply, request);
    return true;
  };
}
