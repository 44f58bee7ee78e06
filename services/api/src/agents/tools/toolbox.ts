import type { Owner } from '@parley/shared/domain/ids';
import type { Agent } from '../config/file.ts';
import type { LoadedAgentsConfig } from '../config/load.ts';
import { createDelegateTool } from '../delegation/delegate-tool.ts';
import type { McpTools } from '../mcp/calls/mcp-tools.ts';
import type { McpFailure } from '../mcp/calls/results.ts';
import type { Credentials } from './credentials.ts';
import { createElicitTool } from './elicit-tool.ts';
import { createPersonalService } from './personal-service.ts';
import { personalTools } from './personal-tools.ts';
import type { SecretTaker } from './secret-question.ts';
import { type Secrets, withSecretsRedeemed } from './secrets.ts';
import { serverTools } from './server-tools.ts';
import { serverOf } from './servers.ts';
import type { Tool } from './tool.ts';

/**
 * The current tools of an agent for one person. A server that cannot be reached offers none. `called` names tools that
 * the current step has already called; they stay offered.
 */
export type ToolsOf = (
  agent: Agent,
  principal: Owner,
  signal: AbortSignal,
  called?: ReadonlySet<string>,
) => Promise<Tool[]>;

export interface ToolboxDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly mcp: McpTools;
  /** The accounts of people, for servers with `credentialScope: user`. */
  readonly credentials: Credentials;
  /** Secrets that people entered for one use. Absent where there is no page to enter them. */
  readonly secrets?: Secrets;
  /** Called with the reason when a server offers no tools. */
  readonly onServerFailure: (serverId: string, failure: McpFailure) => void;
}

/** The tools of one service that an agent may call. */
interface Offer {
  /** The service's title in the configuration. */
  readonly service: string;
  readonly tools: readonly Tool[];
}

/** Makes the tools of a configuration's agents: those of their servers, delegation, and the built-in ones. */
export function createToolbox({ loaded, mcp, credentials, secrets, onServerFailure }: ToolboxDeps): ToolsOf {
  const { config } = loaded;
  const servers = new Map(
    Object.entries(config.mcpServers).map(([id, entry]) => [id, serverOf(loaded, id, entry)] as const),
  );

  async function findOffer(
    agent: Agent,
    { server: id, allow }: Agent['tools'][number],
    principal: Owner,
    { signal, called }: { readonly signal: AbortSignal; readonly called?: ReadonlySet<string> },
  ): Promise<Offer> {
    const server = servers.get(id);
    if (server === undefined) return { service: id, tools: [] };
    const { config: target, personal } = server;
    const timeoutMs = agent.limits.toolTimeoutSeconds * 1000;
    const rules = { timeoutMs, signal, ...(allow !== undefined && { allow }) };
    const onFailure = (failure: McpFailure) => onServerFailure(id, failure);
    if (personal === undefined) {
      const tools = await serverTools({ server: mcp.open(target), ...rules }, onFailure);
      return { service: target.title, tools };
    }
    const { connectorId, credentialType, announced } = personal;
    const service = createPersonalService({
      mcp,
      config: target,
      ref: { ...principal, toolId: id, connectorId },
      credentialType,
      credentials,
      agent: agent.title,
      questionTimeoutSeconds: agent.limits.questionTimeoutSeconds,
    });
    const given = { id, service, announced, ...rules, ...(called !== undefined && { called }) };
    const tools = await personalTools(given, onFailure);
    return { service: target.title, tools };
  }

  return async (agent, principal, signal, called) => {
    const now = { signal, ...(called !== undefined && { called }) };
    const offers = await Promise.all(agent.tools.map((source) => findOffer(agent, source, principal, now)));
    const offered = offers
      .flatMap(({ tools }) => tools)
      .map((tool) => (secrets === undefined ? tool : withSecretsRedeemed(tool, secrets, principal)));
    const takers = secrets === undefined ? [] : offers.flatMap(takersOf);
    const timeoutSeconds = agent.limits.questionTimeoutSeconds;
    const own = agent.elicit ? [createElicitTool({ agent: agent.title, takers, timeoutSeconds })] : [];
    const delegates = agent.delegates.map(({ agent: id, description }) =>
      createDelegateTool({ agent: id, title: config.agents[id]?.title ?? id, description }),
    );
    return [...own, ...delegates, ...offered];
  };
}

/** Services are named by the configuration's title: the names that a server gives to itself and its tools prove nothing. */
function takersOf({ service, tools }: Offer): SecretTaker[] {
  return tools.map(({ name, title }) => ({
    name,
    title: title === undefined ? service : `${service} (${title})`,
  }));
}
