import type { Engine } from '@parley/shared/engine/engine';
import type { Backend } from '@parley/shared/ports/backend';
import { type Env, EnvError, wholeEnvironment } from '@parley/shared/runtime/env';
import type { Log } from '@parley/shared/runtime/log';
import { createAgents } from './agents/agents.ts';
import type { AgentsConfig } from './agents/config/file.ts';
import { loadAgentsConfig } from './agents/config/load.ts';
import { createMcpTools } from './agents/mcp/mcp-tools.ts';
import { createTurns, type Turns } from './agents/turns.ts';

export interface AgentsParts {
  readonly env: Env;
  readonly version: string;
  readonly backend: Backend;
  readonly engine: Engine;
  readonly log: Log;
}

export interface WiredAgents {
  readonly turns: Turns;
  /** Ends this pod's turns and lets go of the tools' servers. */
  readonly close: () => Promise<void>;
}

/** The agents that PARLEY_CONFIG names, with the turns of this pod; nothing when it names none. */
export function wireAgents({ env, version, backend, engine, log }: AgentsParts): WiredAgents | undefined {
  if (env.PARLEY_CONFIG === undefined) return undefined;
  const loaded = loadAgentsConfig(env.PARLEY_CONFIG, wholeEnvironment());
  const unserved = unservedIn(loaded.config);
  if (unserved.length > 0) throw new EnvError(unserved);
  if (loaded.warnings.length > 0) log.warn({ warnings: loaded.warnings }, 'agents configuration');
  const mcp = createMcpTools({
    clientInfo: { name: 'parley', version },
    onStderr: (server, line) => log.info({ server, line }, 'MCP server says'),
  });
  const turns = createTurns({
    engine,
    runs: backend.runs,
    conversations: backend.conversations,
    heartbeats: backend.heartbeats,
    agents: createAgents({
      loaded,
      mcp,
      onServerFailure: (server, { type }) => log.warn({ server, type }, 'MCP server offers no tools'),
    }),
    pod: env.PARLEY_POD,
    onFault: (error, { streamRequestId }) => log.error({ err: error, streamRequestId }, 'turn failed'),
  });
  return {
    turns,
    async close() {
      await turns.close();
      await mcp.close();
    },
  };
}

/** What a configuration may say and this version does not do yet. */
function unservedIn({ mcpServers, agents }: AgentsConfig): string[] {
  const scoped = Object.values(mcpServers).filter(({ credentialScope }) => credentialScope === 'user');
  const delegating = Object.values(agents).filter(({ delegates }) => delegates.length > 0);
  return [
    ...scoped.map(({ id }) => `PARLEY_CONFIG: mcpServers.${id}: \`credentialScope: user\` is not served yet`),
    ...delegating.map(({ id }) => `PARLEY_CONFIG: agents.${id}: \`delegates\` are not served yet`),
  ];
}
