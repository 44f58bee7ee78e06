/** Builds the agents and turns of a pod from its configuration. No rule is decided here. */

import type { Tracer } from '@opentelemetry/api';
import type { Owner } from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import { type Env, leaseTiming, wholeEnvironment } from '@parley/shared/config/env';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import { withTenantQuotas } from '@parley/shared/runs/tenant-quotas';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import type { Account } from '../accounts/listed-accounts.ts';
import { createRemoteAgents } from '../agents/a2a/remote-agents.ts';
import { createAcpProcesses } from '../agents/acp/programs.ts';
import { createAgUiAgents } from '../agents/ag-ui/link.ts';
import { loadAgentsConfig } from '../agents/config/load.ts';
import { createAgents } from '../agents/loop/agents.ts';
import { createMcpTools } from '../agents/mcp/calls/mcp-tools.ts';
import { withProjectAccess } from '../agents/mcp/project-access.ts';
import type { McpFailure } from '../agents/mcp/results.ts';
import { createToolbox } from '../agents/offer/toolbox.ts';
import type { Credentials } from '../agents/tools/credentials.ts';
import { createMcpOffering } from '../agents/tools/mcp-offer.ts';
import { createNamedTools } from '../agents/tools/named-tools.ts';
import { createRoundSeals, type RoundSeals } from '../agents/tools/passthrough/rounds.ts';
import type { Surface } from '../http/route.ts';
import { hasAnswerPage } from '../pages/answer/page-routes.ts';
import type { AuthPagesDeps } from '../pages/routes.ts';
import type { OfferedAgent } from '../surfaces/a2a/deps.ts';
import type { HasConnectPage } from '../surfaces/rest/elicitations.ts';
import { createTurns, type Turns } from '../turns/turns.ts';
import { agentsForA2a } from './a2a.ts';
import { wirePushesOf } from './a2a-pushes.ts';
import { wireAccounts } from './accounts.ts';
import { wireProjectCredentials } from './credentials/project.ts';
import { type VaultParts, wireVault } from './credentials/vault.ts';
import type { PodParts } from './pod-parts.ts';
import { createTurnObserver } from './turn-observer.ts';

/** For a configuration without personal tools, which never requests a credential. */
const NO_CREDENTIALS: Credentials = {
  present: async () => ({ type: 'absent' }),
  widen: async () => undefined,
  refused: async () => undefined,
  promote: async () => undefined,
  completeOpen: async () => undefined,
};

/** The parts from which a pod with agents is built. */
export interface AgentsParts extends PodParts {
  readonly tracer: Tracer;
}

export interface WiredAgents {
  readonly turns: Turns;
  /** True if the owner of a question can answer it on a hosted page. */
  readonly hasAnswerPage: boolean;
  /** The agents that A2A clients may call. */
  readonly offeredToA2a: readonly OfferedAgent[];
  /** OAuth clients whose own cards may decide approvals. */
  readonly approveIn: readonly string[];
  /** How a channel notifies people about questions that services ask. */
  readonly notify: NotifyRules | undefined;
  /** The hosted pages. Absent if there are no personal tools and no pages are configured. */
  readonly accounts?: {
    readonly surfaces: readonly Surface[];
    readonly pages: AuthPagesDeps;
    readonly hasConnectPage: HasConnectPage;
    readonly disconnectAll: (owner: Owner) => Promise<number>;
    readonly listAccounts: (owner: Owner) => Promise<readonly Account[]>;
  };
  /** Ends this pod's turns and closes the connections to the tools' servers. */
  readonly close: () => Promise<void>;
}

/** Seals rounds of questions. Without keys shared by all pods, a round stays on the pod that made the call. */
function roundSeals({ PARLEY_VAULT_KEYS: entries }: Env): RoundSeals | undefined {
  const { keys } = entries.length === 0 ? {} : parseVaultKeys(entries);
  return keys && createRoundSeals(keys);
}

/** This pod's connections to remote agents and to the servers of tools. */
function createConnections({ env, version, log, metrics }: AgentsParts) {
  const shown = (line: string) => (env.PARLEY_LOG_MCP_STDERR ? { line } : { characters: line.length });
  const onUnauthorized = (server: string, status: 401 | 403) => {
    metrics.toolUnauthorized.add(1);
    log.warn({ server, status }, 'a tool server refused the credential that was sent to it');
  };
  return {
    acp: createAcpProcesses({
      onStderr: (agent, line) => log.info({ agent, ...shown(line) }, 'ACP agent wrote to stderr'),
    }),
    a2a: createRemoteAgents({ onUnauthorized }),
    agUi: createAgUiAgents({ onUnauthorized }),
    servers: createMcpTools({
      clientInfo: { name: 'parley', version },
      onStderr: (server, line) => log.info({ server, ...shown(line) }, 'MCP server wrote to stderr'),
      onUnauthorized,
      onRevision: (server, revision, reason) =>
        log.info({ server, revision, reason }, 'MCP revision of a tool server'),
    }),
  };
}

function quotasOf(env: Env) {
  return {
    turns: env.PARLEY_LIMIT_TENANT_TURNS,
    tokens: env.PARLEY_LIMIT_TENANT_TOKENS,
    storedBytes: env.PARLEY_LIMIT_TENANT_STORED_BYTES,
  };
}

/** Builds the agents in the file `config`, and the turns of this pod. */
export function wireAgents(parts: AgentsParts, config: string): WiredAgents {
  const { env, backend, engine, log } = parts;
  const loaded = loadAgentsConfig(config, wholeEnvironment());
  if (loaded.warnings.length > 0) log.warn({ warnings: loaded.warnings }, 'agents configuration');
  let vault: VaultParts | undefined;
  const openVault = () => {
    vault ??= wireVault(parts);
    return vault;
  };
  const accounts = wireAccounts({ ...parts, loaded, openVault });
  const project = wireProjectCredentials({ ...parts, loaded, openVault });
  const { acp, a2a, agUi, servers } = createConnections(parts);
  const mcp = project === undefined ? servers : withProjectAccess(servers, project);
  const toolDeps = {
    loaded,
    mcp,
    credentials: accounts?.credentials ?? NO_CREDENTIALS,
    rounds: roundSeals(env),
    clientRequests: createClientRequests(backend),
    onServerFailure: (server: string, { type }: McpFailure) =>
      log.warn({ server, type }, 'MCP server offers no tools'),
  };
  const toolsOf = createToolbox({
    ...toolDeps,
    acp,
    a2a,
    agUi,
    pushesOf: wirePushesOf(parts),
    ...(accounts !== undefined && { secrets: accounts.secrets }),
  });
  const named = createNamedTools(toolDeps);
  const hasPage = accounts !== undefined && hasAnswerPage(accounts.pages);
  const turns = createTurns({
    engine,
    runs: withTenantQuotas(backend.runs, backend.limits, quotasOf(env)),
    runsMax: env.PARLEY_LIMIT_POD_TURNS,
    tenantRunsMax: env.PARLEY_LIMIT_POD_TENANT_TURNS,
    deathsMax: env.PARLEY_LIMIT_TURN_DEATHS,
    onRefused: (limit) => parts.metrics.rateLimited.add(1, { limit }),
    conversations: backend.conversations,
    feed: backend.feed,
    heartbeats: backend.heartbeats,
    runQueue: backend.runQueue,
    delegates: env.PARLEY_DELEGATES,
    holdMs: env.PARLEY_HOLD_SECONDS * 1000,
    hasAnswerPage: hasPage,
    hasChannel: env.PARLEY_SLACK_CLIENT_ID !== undefined,
    agents: createAgents({ loaded, toolsOf, named }),
    offering: createMcpOffering({ config: loaded.config, named }),
    observer: createTurnObserver({ log, metrics: parts.metrics, tracer: parts.tracer }),
    pod: env.PARLEY_POD,
    leaseTiming: leaseTiming(env),
    onFault: (error, { streamRequestId }) => log.error({ err: error, streamRequestId }, 'turn failed'),
  });
  return {
    turns,
    hasAnswerPage: hasPage,
    offeredToA2a: agentsForA2a(loaded),
    approveIn: loaded.config.mcpOffer.apps.approveIn,
    notify: loaded.config.notify,
    ...(accounts !== undefined && {
      accounts: {
        surfaces: accounts.surfaces,
        pages: accounts.pages,
        hasConnectPage: accounts.hasPage,
        disconnectAll: accounts.disconnectAll,
        listAccounts: accounts.listAccounts,
      },
    }),
    async close() {
      await turns.close();
      a2a.close();
      agUi.close();
      await Promise.all([mcp.close(), acp.close()]);
      await accounts?.close();
    },
  };
}
