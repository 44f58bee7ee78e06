import type { HttpMcpServer, McpServer as McpServerEntry } from '../config/file.ts';
import type { LoadedAgentsConfig } from '../config/load.ts';
import { createToolOffer } from '../mcp/calls/tool-offer.ts';
import { DEFAULT_MCP_LIMITS } from '../mcp/limits.ts';
import type { McpTool } from '../mcp/results.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';

/** A configured server, with its secrets. It must never be logged. */
export interface Server {
  readonly config: McpServerConfig;
  /** False if Parley does not tell the server that the person can be asked. */
  readonly mayAsk: boolean;
  /** True if an agent's own model may write texts for the server, each after an approval. */
  readonly maySample?: boolean;
  /** How long the server may work on a task that it makes of a call. */
  readonly taskSeconds: number;
  /** Present only for `credentialScope: user`. */
  readonly personal?: {
    readonly connectorId: string;
    readonly credentialType: string;
    readonly announced: readonly McpTool[];
  };
}

/** Converts a server's configuration, with its secrets resolved. */
export function serverOf(
  { config, secretOf }: LoadedAgentsConfig,
  id: string,
  entry: McpServerEntry,
): Server {
  const {
    title,
    elicitation: mayAsk,
    sampling: maySample,
    taskTimeoutSeconds: taskSeconds,
    protocol,
  } = entry;
  const rules = { mayAsk, maySample, taskSeconds };
  const named = { id, title, revision: protocol === 'auto' ? undefined : protocol };
  if (entry.transport === 'stdio') {
    const { command, args } = entry;
    const env = Object.fromEntries(entry.env.map((name) => [name, secretOf(name)]));
    return { config: { ...named, transport: { type: 'stdio', command, args, env } }, ...rules };
  }
  const transport = { type: 'http', url: entry.url, headers: headersOf(entry, secretOf) } as const;
  const server = { config: { ...named, transport }, ...rules };
  const connector = config.connectors[entry.connector ?? ''];
  if (connector === undefined || entry.credentialScope !== 'user') return server;
  const announced = readAnnouncedTools(entry, server.config);
  return { ...server, personal: { connectorId: connector.id, credentialType: connector.type, announced } };
}

/** The tools that the configuration announces. They must follow the rules for tools that servers list. */
function readAnnouncedTools({ announcedTools }: HttpMcpServer, config: McpServerConfig): readonly McpTool[] {
  const offer = createToolOffer({ ...DEFAULT_MCP_LIMITS, serverId: config.id, mirrorsParams: false });
  for (const tool of announcedTools) offer.add(tool);
  return offer.done().tools;
}

function headersOf(
  { headersFromEnv }: HttpMcpServer,
  secretOf: (envName: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersFromEnv).map(([name, variable]) => [name, secretOf(variable)]),
  );
}
