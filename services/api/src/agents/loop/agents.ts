/** Opens the configured agents for turns: access, model, limits and tools. The loop that runs an agent is in `run-steps.ts`. */

import { ParleyError } from '@parley/core/domain/errors';
import type { NotifyRules } from '@parley/core/domain/notify';
import type { Caller } from '@parley/shared/domain/caller';
import { admits } from '../config/access.ts';
import type { Agent, AgentsConfig, Model } from '../config/file.ts';
import type { LoadedAgentsConfig } from '../config/load.ts';
import { type OneCall, parseOneCallId, replyWithCall } from '../run/one-call.ts';
import type { NamedTools } from '../tools/named-tools.ts';
import type { ServerCallLimits, TurnPerson } from '../tools/passthrough/person.ts';
import type { ToolsOf } from '../tools/tools-of.ts';
import type { TakenImages } from './images.ts';
import { createLanguageModel } from './model/language-model.ts';
import { type ModelSettings, repliesOf, samplesOf } from './model-step.ts';
import type { RunAgent, RunLimits } from './run-steps.ts';

// How often one call is sent at most, and the other limits of a run that makes only one call.
const SENDS_MAX = 3;
const LISTING_SECONDS = 60;

/** The agents of a configuration. */
export interface Agents {
  /** The agents with which the caller may begin turns, in the order of the configuration. */
  list(caller: Caller): readonly { readonly id: string; readonly title: string }[];
  /**
   * The id of the agent that a caller names, or of the default agent. Throws `invalid_request` both if there is no such agent
   * and if the caller may not begin turns with it, so that callers cannot tell which.
   */
  admit(caller: Caller, id: string | undefined): string;
  /** True for a configured agent, and for the name of a single-call run of a server whose tools are offered. */
  isKnown(id: string): boolean;
  /** The agent with that id, or the default agent, regardless of the caller. Throws `invalid_request` if there is none. */
  find(id: string | undefined): FoundAgent;
  /** The agent with its model and its tools for this person, ready for a turn. */
  open(id: string, person: TurnPerson, signal: AbortSignal): Promise<RunAgent>;
}

/** The agent of a turn. */
interface FoundAgent {
  readonly id: string;
  readonly title: string;
  /** How a channel tells the person about questions. */
  readonly notify?: NotifyRules;
  readonly images?: TakenImages;
}

interface AgentsDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly toolsOf: ToolsOf;
  readonly named: NamedTools;
}

/** Makes the agents of a configuration. */
export function createAgents({ loaded, toolsOf, named }: AgentsDeps): Agents {
  const { config } = loaded;
  const models = new Map(
    Object.entries(config.models).map(
      ([id, model]) =>
        [
          id,
          { model: createLanguageModel(model, loaded), settings: settingsOf(model), images: model.images },
        ] as const,
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
    isKnown(id) {
      const call = parseOneCallId(id);
      return call === undefined ? config.agents[id] !== undefined : limitsOfCall(config, call) !== undefined;
    },
    find(id = config.defaultAgent) {
      const title = titleOf(config, id);
      if (title === undefined) throw noAgent(id);
      const agent = config.agents[id];
      const images = agent && models.get(agent.model)?.images;
      return { id, title, images, ...(agent?.notify !== undefined && { notify: agent.notify }) };
    },
    async open(id, { tenant, userId, reach, client, showsPages, viewer = 'model' }) {
      const person = { tenant, userId, reach, client, showsPages };
      const call = parseOneCallId(id);
      if (call !== undefined) return openCall(config, named, call, { ...person, viewer });
      const agent = config.agents[id];
      const model = agent && models.get(agent.model);
      if (agent === undefined || model === undefined) throw new Error(`The agent ${id} is not configured.`);
      return {
        reply: repliesOf({ ...model, instructions: agent.instructions }),
        sample: samplesOf(model),
        tools: (signal, called) => toolsOf(agent, person, signal, called),
        limits: limitsOf(agent),
      };
    },
  };
}

/** The title of an agent, or of the server whose tool a single-call run calls. */
function titleOf({ agents, mcpServers }: AgentsConfig, id: string): string | undefined {
  const call = parseOneCallId(id);
  return call === undefined ? agents[id]?.title : mcpServers[call.server]?.title;
}

/** Undefined if the configuration neither offers the server's tools to MCP clients nor its pages in the agent's chats. */
function limitsOfCall({ agents, mcpOffer }: AgentsConfig, call: OneCall): ServerCallLimits | undefined {
  if ('read' in call || call.agent === undefined)
    return mcpOffer.tools.find(({ server }) => server === call.server)?.limits;
  const agent = agents[call.agent];
  return agent?.tools.some(({ server, pages }) => pages && server === call.server) ? agent.limits : undefined;
}

/** Takes the place of an agent in a single-call run: no model, and one tool. */
function openCall(config: AgentsConfig, named: NamedTools, call: OneCall, person: TurnPerson): RunAgent {
  const limits = limitsOfCall(config, call);
  const server = config.mcpServers[call.server];
  if (limits === undefined || server === undefined)
    throw new Error(`No tool of the server ${call.server} is offered.`);
  const workSeconds = SENDS_MAX * limits.toolTimeoutSeconds + LISTING_SECONDS + server.taskTimeoutSeconds;
  return {
    reply: replyWithCall,
    tools: async (signal) => [await named.open(call, limits, person, signal)],
    limits: {
      steps: 1,
      lastReason: 'stop',
      tokens: Number.POSITIVE_INFINITY,
      workMs: workSeconds * 1000,
    },
    isForgotten: true,
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
