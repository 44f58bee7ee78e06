import { ParleyError } from '@parley/shared/domain/errors';
import type { LanguageModel } from 'ai';
import type { Agent, HttpMcpServer, McpServer as McpServerEntry, Model } from './config/file.ts';
import type { LoadedAgentsConfig } from './config/load.ts';
import { createElicitTool } from './elicit-tool.ts';
import type { McpTools } from './mcp/mcp-tools.ts';
import type { McpFailure } from './mcp/results.ts';
import type { McpServerConfig } from './mcp/server-config.ts';
import type { ModelSettings } from './model-step.ts';
import { languageModelOf } from './models.ts';
import type { RunLimits } from './run.ts';
import { serverTools } from './server-tools.ts';
import type { Tool } from './tool.ts';

/** An agent, ready for a turn. */
export interface OpenAgent {
  readonly model: LanguageModel;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly settings: ModelSettings;
  readonly limits: RunLimits;
}

/** The agents of a configuration. */
export interface Agents {
  /** The agent of that id, or the default one. Throws `invalid_request` when there is none. */
  find(id: string | undefined): { readonly id: string };
  /** Its model and its tools as they are now; a server that cannot be reached offers none. */
  open(id: string, signal: AbortSignal): Promise<OpenAgent>;
}

export interface AgentsDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly mcp: McpTools;
  /** Told why a server offers no tools. */
  readonly onServerFailure: (serverId: string, failure: McpFailure) => void;
}

/** Makes the agents of a configuration callable. */
export function createAgents({ loaded, mcp, onServerFailure }: AgentsDeps): Agents {
  const { config, secretOf } = loaded;
  const models = new Map(
    Object.entries(config.models).map(
      ([id, model]) =>
        [id, { model: languageModelOf(model, secretOf), settings: settingsOf(model) }] as const,
    ),
  );

  async function toolsOf(agent: Agent, signal: AbortSignal): Promise<Tool[]> {
    const timeoutMs = agent.limits.toolTimeoutSeconds * 1000;
    const lists = agent.tools.map(async ({ server: id, allow }) => {
      const entry = config.mcpServers[id];
      if (entry === undefined) return [];
      const server = mcp.open(serverOf(id, entry, secretOf));
      return serverTools({ server, timeoutMs, signal, ...(allow !== undefined && { allow }) }, (failure) =>
        onServerFailure(id, failure),
      );
    });
    const own = agent.elicit
      ? [createElicitTool({ timeoutSeconds: agent.limits.questionTimeoutSeconds })]
      : [];
    return [...own, ...(await Promise.all(lists)).flat()];
  }

  return {
    find(id = config.defaultAgent) {
      if (config.agents[id] === undefined)
        throw new ParleyError('invalid_request', `There is no agent named ${JSON.stringify(id)}.`);
      return { id };
    },
    async open(id, signal) {
      const agent = config.agents[id];
      const model = agent && models.get(agent.model);
      if (agent === undefined || model === undefined) throw new Error(`The agent ${id} is not configured.`);
      return {
        ...model,
        instructions: agent.instructions,
        tools: await toolsOf(agent, signal),
        limits: limitsOf(agent),
      };
    },
  };
}

function limitsOf({ limits }: Agent): RunLimits {
  return { steps: limits.steps, tokens: limits.tokens, workMs: limits.turnTimeoutSeconds * 1000 };
}

function settingsOf({ temperature, maxOutputTokens }: Model): ModelSettings {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}

function serverOf(id: string, entry: McpServerEntry, secretOf: (envName: string) => string): McpServerConfig {
  if (entry.transport === 'http') {
    return {
      id,
      title: entry.title,
      transport: { type: 'http', url: entry.url, headers: headersOf(entry, secretOf) },
    };
  }
  const { command, args } = entry;
  const env = Object.fromEntries(entry.env.map((name) => [name, secretOf(name)]));
  return { id, title: entry.title, transport: { type: 'stdio', command, args, env } };
}

function headersOf(
  { headersFromEnv }: HttpMcpServer,
  secretOf: (envName: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headersFromEnv).map(([name, variable]) => [name, secretOf(variable)]),
  );
}
