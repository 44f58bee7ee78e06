/**
 * Puts together the tools that an agent is offered, from servers, other agents and Parley itself. How a tool works is in
 * `agents/tools` and the folders of the protocols.
 */

import type { PushesOf } from '../a2a/call-agent.ts';
import { remoteAgentOf } from '../a2a/remote-agent.ts';
import type { RemoteAgents } from '../a2a/remote-agents.ts';
import { acpAgentOf } from '../acp/acp-agent.ts';
import type { AcpProcesses } from '../acp/programs.ts';
import { runAcpTask } from '../acp/run-task.ts';
import { agUiAgentOf } from '../ag-ui/ag-ui-agent.ts';
import { callAgUiAgent } from '../ag-ui/call-agent.ts';
import type { AgUiAgents } from '../ag-ui/link.ts';
import type { Agent } from '../config/file.ts';
import type { LoadedAgentsConfig } from '../config/load.ts';
import { createDelegateTool } from '../delegation/delegate-tool.ts';
import { recordedSkillTool, remoteTools } from '../delegation/remote-tools.ts';
import type { McpTools } from '../mcp/calls/mcp-tools.ts';
import type { McpFailure } from '../mcp/results.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import type { NamedCall, Tool } from '../run/tool.ts';
import { withApproval } from '../tools/approvals/gate.ts';
import { policyOf } from '../tools/approvals/policy.ts';
import type { Credentials } from '../tools/credentials.ts';
import { createElicitTool } from '../tools/elicit-tool.ts';
import { askedPerson, type SendDeps, sendRules, type TurnPerson } from '../tools/passthrough/person.ts';
import { sendCall } from '../tools/passthrough/send-call.ts';
import { createPersonalService } from '../tools/personal-service.ts';
import { notConnected, personalTools } from '../tools/personal-tools.ts';
import type { SecretTaker } from '../tools/secret-question.ts';
import { type Secrets, withSecretsRedeemed } from '../tools/secrets.ts';
import { outcomeOf, recordedTaskTool, serverTools, type TaskServer } from '../tools/server-tools.ts';
import { serverOf } from '../tools/servers.ts';
import type { ToolsOf } from '../tools/tools-of.ts';

export interface ToolboxDeps extends SendDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly mcp: McpTools;
  /** The processes of ACP agents. Absent if the configuration has none. */
  readonly acp?: AcpProcesses;
  /** The remote A2A agents. Absent if the configuration has none. */
  readonly a2a?: RemoteAgents;
  /** The AG-UI agents. Absent if the configuration has none. */
  readonly agUi?: AgUiAgents;
  /** Receives push updates of remote agents. Absent if agents cannot push to this deployment. */
  readonly pushesOf?: PushesOf | undefined;
  /** The accounts of people, for servers with `credentialScope: user`. */
  readonly credentials: Credentials;
  /** Secrets that people entered for one use. Absent if there is no page to enter them. */
  readonly secrets?: Secrets;
  /** Called with the reason when a server offers no tools. */
  readonly onServerFailure: (serverId: string, failure: McpFailure) => void;
}

/** The tools of one service that an agent may call. */
interface Offer {
  /** Id of the server. */
  readonly server: string;
  /** The service's title in the configuration. */
  readonly service: string;
  readonly tools: readonly Tool[];
  readonly tasks?: TaskServer;
}

/** Makes the tools of a configuration's agents: those of their servers, delegation, and the built-in ones. */
export function createToolbox(deps: ToolboxDeps): ToolsOf {
  const { loaded, mcp, credentials, secrets, onServerFailure } = deps;
  const { config } = loaded;
  const { acp, a2a, agUi, pushesOf } = deps;
  const servers = new Map(
    Object.entries(config.mcpServers).map(([id, entry]) => [id, serverOf(loaded, id, entry)] as const),
  );

  async function delegateTools(
    { title: asker, limits, delegates }: Agent,
    person: TurnPerson,
    { signal, called }: { readonly signal: AbortSignal; readonly called?: ReadonlySet<string> },
  ): Promise<{ readonly tools: readonly Tool[]; readonly recorded?: (name: string) => Tool }> {
    const { questionsPerCall: questionsMax, questionTimeoutSeconds } = limits;
    const rules = { questionsMax, questionTimeoutSeconds };
    const remote = a2a && { agents: a2a, credentials, asker, person, rules, pushesOf };
    const toolsOf = async ({ agent: id, ...delegate }: Agent['delegates'][number]): Promise<Tool[]> => {
      const agent = remoteAgentOf(loaded, id);
      if (agent !== undefined && remote !== undefined)
        return remoteTools(remote, { agent, ...delegate, signal, ...(called !== undefined && { called }) });
      const { description } = delegate;
      const posted = agUiAgentOf(loaded, id);
      if (posted !== undefined && agUi !== undefined) {
        const given = { agents: agUi, credentials, asker, person, rules };
        const work = (call: NamedCall, task: string) => callAgUiAgent(given, posted, call, task);
        return [createDelegateTool({ agent: id, title: posted.title, description, work })];
      }
      const target = acpAgentOf(loaded, id);
      if (target === undefined || acp === undefined)
        return [createDelegateTool({ agent: id, title: config.agents[id]?.title ?? id, description })];
      const given = { processes: acp, agent: target, rules };
      const work = (call: NamedCall, task: string) => runAcpTask(given, call, task);
      return [createDelegateTool({ agent: id, title: target.title, description, work })];
    };
    const tools = (await Promise.all(delegates.map(toolsOf))).flat();
    const agents = delegates.flatMap(({ agent: id }) => remoteAgentOf(loaded, id) ?? []);
    if (remote === undefined || agents.length === 0) return { tools };
    return { tools, recorded: (name) => recordedSkillTool(remote, agents, name) };
  }

  async function findOffer(
    agent: Agent,
    { server: id, allow, pages }: Agent['tools'][number],
    person: TurnPerson,
    { signal, called }: { readonly signal: AbortSignal; readonly called?: ReadonlySet<string> },
  ): Promise<Offer> {
    const server = servers.get(id);
    if (server === undefined) return { server: id, service: id, tools: [] };
    const { personal } = server;
    const { tenant, userId } = person;
    const showsPages = pages ? person.showsPages : undefined;
    const target: McpServerConfig = { ...server.config, showsPages };
    const asked = askedPerson(server, person, agent);
    const rules = {
      ...sendRules(server, { ...person, agent }, agent.limits, deps),
      signal,
      pages: showsPages === true,
      ...(allow !== undefined && { allow }),
    };
    const onFailure = (failure: McpFailure) => onServerFailure(id, failure);
    if (personal === undefined) {
      const opened = mcp.open(target, undefined, asked);
      const tools = await serverTools({ server: opened, ...rules }, onFailure);
      const attend = async (call: NamedCall) =>
        outcomeOf(target.title, await sendCall(call, opened, call.toolName, rules));
      return { server: id, service: target.title, tools, tasks: { rules, attend } };
    }
    const { connectorId, credentialType, announced } = personal;
    const service = createPersonalService({
      title: target.title,
      open: (credential) => mcp.open(target, credential, asked),
      ref: { tenant, userId, toolId: id, connectorId },
      credentialType,
      credentials,
      agent: agent.title,
      questionTimeoutSeconds: agent.limits.questionTimeoutSeconds,
    });
    const given = { id, service, announced, ...rules, ...(called !== undefined && { called }) };
    const tools = await personalTools(given, onFailure);
    const attend = async (call: NamedCall) => {
      const result = await service.call(call, (one) => sendCall(call, one, call.toolName, rules));
      return result.type === 'not_connected' ? notConnected(result) : outcomeOf(target.title, result);
    };
    return { server: id, service: target.title, tools, tasks: { rules, attend } };
  }

  function gated(tool: Tool, server: string, agent: Agent): Tool {
    const entry = config.mcpServers[server];
    const { source } = tool;
    const policy = entry && source && policyOf(entry, agent, source);
    if (entry === undefined || policy === undefined || source === undefined) return tool;
    return withApproval(tool, {
      policy,
      server,
      serverTitle: entry.title,
      source,
      timeoutSeconds: agent.limits.questionTimeoutSeconds,
    });
  }

  return async (agent, person, signal, called) => {
    const { tenant, userId } = person;
    const now = { signal, ...(called !== undefined && { called }) };
    const [offers, delegates] = await Promise.all([
      Promise.all(agent.tools.map((source) => findOffer(agent, source, person, now))),
      delegateTools(agent, person, now),
    ]);
    const redeemed = (tool: Tool) =>
      secrets === undefined ? tool : withSecretsRedeemed(tool, secrets, { tenant, userId });
    // The approval comes first, so that a secret is redeemed only for a call that is made.
    const offered = offers.flatMap(({ server, tools }) =>
      tools.map((tool) => gated(redeemed(tool), server, agent)),
    );
    const takers = secrets === undefined ? [] : offers.flatMap(takersOf);
    const timeoutSeconds = agent.limits.questionTimeoutSeconds;
    const own = agent.elicit ? [createElicitTool({ agent: agent.title, takers, timeoutSeconds })] : [];
    const tools = [...own, ...delegates.tools, ...offered];
    const names = new Set(tools.map(({ name }) => name));
    const gone = [...(called ?? [])].filter((name) => !names.has(name));
    const tasks = offers.flatMap((offer) => offer.tasks ?? []);
    return [...tools, ...gone.map((name) => recordedTaskTool(name, tasks, delegates.recorded?.(name)))];
  };
}

/**
 * The services for which secrets may be asked, by their titles in the configuration: the names that a server gives itself and
 * its tools are untrusted.
 */
function takersOf({ service, tools }: Offer): SecretTaker[] {
  return tools.map(({ name, title }) => ({
    name,
    title: title === undefined ? service : `${service} (${title})`,
  }));
}
