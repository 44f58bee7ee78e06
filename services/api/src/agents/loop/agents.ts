import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import type { Caller } from '@parley/shared/elicitations/caller';
import { admits } from '../config/access.ts';
import type { Agent, Model } from '../config/file.ts';
import type { LoadedAgentsConfig } from '../config/load.ts';
import type { Tool } from '../tools/tool.ts';
import type { ToolsOf } from '../tools/toolbox.ts';
import type { ModelSettings } from './model-step.ts';
import type { RunLimits } from './run-steps.ts';
import type { ChatModel } from './streamed-model.ts';

/** An agent with its model and tools, ready for a turn. */
export interface OpenAgent {
  readonly model: ChatModel;
  readonly instructions: string;
  /** Its current tools. A server that cannot be reached offers none. */
  readonly tools: (signal: AbortSignal, called?: ReadonlySet<string>) => Promise<readonly Tool[]>;
  readonly settings: ModelSettings;
  readonly limits: RunLimits;
}

/** The agents of a configuration. */
export interface Agents {
  /** The agents with which the caller may begin turns, in the order of the configuration. */
  list(caller: Caller): readonly { readonly id: string; readonly title: string }[];
  /**
   * The id of the agent that a caller names, or of the default one. Throws `invalid_request` when there is none or the
   * caller may not begin turns with it, without a difference.
   */
  admit(caller: Caller, id: string | undefined): string;
  /** The agent of that id, or the default one, for every caller. Throws `invalid_request` when there is none. */
  find(id: string | undefined): { readonly id: string; readonly title: string };
  /** The agent's model and its tools for that person. */
  open(id: string, principal: Owner, signal: AbortSignal): Promise<OpenAgent>;
}

export interface AgentsDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly toolsOf: ToolsOf;
}

/** Makes the agents of a configuration. */
export function createAgents({ loaded, toolsOf }: AgentsDeps): Agents {
  const { config, secretOf } = loaded;
  const models = new Map(
    Object.entries(config.models).map(
      ([id, model]) =>
        [id, { model: createLanguageModel(model, secretOf), settings: settingsOf(model) }] as const,
    ),
  );

  return {
    list: (caller) =>
      Object.values(config.agents)
        .filter(({ access }) => admits(access, caller))
        .map(({ id, title }) => ({ id, title })),
    admit(caller, id = config.defaultAgent) {
      const agent = config.agents[id];
      if (agent === undefined || !admits(agent.access, caller)) throw noAgent(id);
      return id;
    },
    find(id = config.defaultAgent) {
      const title = config.agents[id]?.title;
      if (title === undefined) throw noAgent(id);
      return { id, title };
    },
    async open(id, { tenant, userId }) {
      const agent = config.agents[id];
      const model = agent && models.get(agent.model);
      if (agent === undefined || model === undefined) throw new Error(`The agent ${id} is not configured.`);
      return {
        ...model,
        instructions: agent.instructions,
        tools: (signal, called) => toolsOf(agent, { tenant, userId }, signal, called),
        limits: limitsOf(agent),
      };
    },
  };
}

function noAgent(id: string): ParleyError {
  return new ParleyError('invalid_request', `There is no agent named ${JSON.stringify(id)}.`);
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

/** Makes the client of a model. `secretOf` returns the value of the environment variable that the entry names. */
function createLanguageModel(model: Model, secretOf: (envName: string) => string): ChatModel {
  const apiKey = model.apiKeyEnv === undefined ? undefined : secretOf(model.apiKeyEnv);
  const settings = { ...(apiKey !== undefined && { apiKey }) };
  switch (model.provider) {
    case 'openai-compatible':
      return createOpenAICompatible({
        name: 'openai-compatible',
        baseURL: model.baseUrl,
        includeUsage: true,
        ...settings,
      })(model.model);
    case 'openai':
      return createOpenAI({ ...settings, ...baseOf(model.baseUrl) })(model.model);
    case 'anthropic':
      return createAnthropic({ ...settings, ...baseOf(model.baseUrl) })(model.model);
  }
}

function baseOf(baseURL: string | undefined) {
  return { ...(baseURL !== undefined && { baseURL }) };
}
