import { ParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import type { LanguageModel } from 'ai';
import type { Agent, Model } from './config/file.ts';
import type { LoadedAgentsConfig } from './config/load.ts';
import type { Credentials } from './credentials.ts';
import { createDelegateTool } from './delegate-tool.ts';
import { createElicitTool } from './elicit-tool.ts';
import type { McpTools } from './mcp/mcp-tools.ts';
import type { McpFailure } from './mcp/results.ts';
import type { ModelSettings } from './model-step.ts';
import { languageModelOf } from './models.ts';
import { createPersonalService } from './personal-service.ts';
import { personalTools } from './personal-tools.ts';
import type { RunLimits } from './run-steps.ts';
import type { SecretTaker } from './secret-question.ts';
import { redeeming, type Secrets } from './secrets.ts';
import { serverTools } from './server-tools.ts';
import { serverOf } from './servers.ts';
import type { Tool } from './tool.ts';

/** An agent, ready for a turn. */
export interface OpenAgent {
  readonly model: LanguageModel;
  readonly instructions: string;
  /** Its tools as they are now; a server that cannot be reached offers none. */
  readonly tools: (signal: AbortSignal) => Promise<readonly Tool[]>;
  readonly settings: ModelSettings;
  readonly limits: RunLimits;
}

/** The agents of a configuration. */
export interface Agents {
  /** The agent of that id, or the default one. Throws `invalid_request` when there is none. */
  find(id: string | undefined): { readonly id: string; readonly title: string };
  /** Its model and its tools for that person. */
  open(id: string, principal: Owner, signal: AbortSignal): Promise<OpenAgent>;
}

export interface AgentsDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly mcp: McpTools;
  /** The accounts of people, for servers with `credentialScope: user`. */
  readonly credentials: Credentials;
  /** What people typed for one use by a tool; absent where there is no page to type it into. */
  readonly secrets?: Secrets;
  /** Told why a server offers no tools. */
  readonly onServerFailure: (serverId: string, failure: McpFailure) => void;
}

/** Makes the agents of a configuration callable. */
export function createAgents({ loaded, mcp, credentials, secrets, onServerFailure }: AgentsDeps): Agents {
  const { config, secretOf } = loaded;
  const models = new Map(
    Object.entries(config.models).map(
      ([id, model]) =>
        [id, { model: languageModelOf(model, secretOf), settings: settingsOf(model) }] as const,
    ),
  );

  const servers = new Map(
    Object.entries(config.mcpServers).map(([id, entry]) => [id, serverOf(loaded, id, entry)] as const),
  );

  async function toolsOf(agent: Agent, principal: Owner, signal: AbortSignal): Promise<Tool[]> {
    const timeoutMs = agent.limits.toolTimeoutSeconds * 1000;
    const lists = agent.tools.map(async ({ server: id, allow }) => {
      const server = servers.get(id);
      if (server === undefined) return { service: id, tools: [] };
      const { config: target, personal } = server;
      const service = target.title;
      const rules = { timeoutMs, signal, ...(allow !== undefined && { allow }) };
      const onFailure = (failure: McpFailure) => onServerFailure(id, failure);
      if (personal === undefined)
        return { service, tools: await serverTools({ server: mcp.open(target), ...rules }, onFailure) };
      const account = createPersonalService({
        mcp,
        config: target,
        ref: { ...principal, toolId: id, connectorId: personal.connectorId },
        credentialType: personal.credentialType,
        credentials,
        agent: agent.title,
        questionTimeoutSeconds: agent.limits.questionTimeoutSeconds,
      });
      const { announced } = personal;
      return {
        service,
        tools: await personalTools({ id, service: account, announced, ...rules }, onFailure),
      };
    });
    const listed = await Promise.all(lists);
    const called = listed
      .flatMap(({ tools }) => tools)
      .map((tool) => (secrets === undefined ? tool : redeeming(tool, secrets, principal)));
    const takers = secrets === undefined ? [] : listed.flatMap(takersOf);
    const timeoutSeconds = agent.limits.questionTimeoutSeconds;
    const own = agent.elicit ? [createElicitTool({ agent: agent.title, takers, timeoutSeconds })] : [];
    const delegates = agent.delegates.map(({ agent: id, description }) =>
      createDelegateTool({ agent: id, title: config.agents[id]?.title ?? id, description }),
    );
    return [...own, ...delegates, ...called];
  }

  return {
    find(id = config.defaultAgent) {
      const title = config.agents[id]?.title;
      if (title === undefined)
        throw new ParleyError('invalid_request', `There is no agent named ${JSON.stringify(id)}.`);
      return { id, title };
    },
    async open(id, { tenant, userId }) {
      const agent = config.agents[id];
      const model = agent && models.get(agent.model);
      if (agent === undefined || model === undefined) throw new Error(`The agent ${id} is not configured.`);
      return {
        ...model,
        instructions: agent.instructions,
        tools: (signal) => toolsOf(agent, { tenant, userId }, signal),
        limits: limitsOf(agent),
      };
    },
  };
}

/** Services go by the name that the configuration gives them: what a server calls itself and its tools proves nothing. */
function takersOf({
  service,
  tools,
}: {
  readonly service: string;
  readonly tools: readonly Tool[];
}): SecretTaker[] {
  return tools.map(({ name, title }) => ({
    name,
    title: title === undefined ? service : `${service} (${title})`,
  }));
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
