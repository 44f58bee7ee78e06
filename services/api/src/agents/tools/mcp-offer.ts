/**
 * Decides which agents and tools an MCP client of Parley is offered, and under which names. Calls are made in `named-tools.ts`,
 * the protocol is in `surfaces/mcp`.
 */

import type { Caller } from '@parley/shared/domain/caller';
import { admits } from '../config/access.ts';
import type { AgentsConfig } from '../config/file.ts';
import type { TASK_MODES } from '../config/offers/mcp-offer.ts';
import { scopedAddress, withPages } from '../mcp/calls/addresses.ts';
import { modelToolName } from '../mcp/calls/tool-name.ts';
import type { McpTool, McpToolHints, TaskSupport } from '../mcp/results.ts';
import { type ParamHeader, paramHeadersOf } from '../mcp/transports/param-headers.ts';
import { isVisible } from '../mcp/visibility.ts';
import type { ServerTool } from '../run/one-call.ts';
import { createMcpContent, type ServerContent } from './mcp-content.ts';
import type { NamedTools } from './named-tools.ts';
import { type AgentPages, createAgentPages } from './passthrough/agent-pages.ts';
import { serverUnavailable } from './passthrough/content-replies.ts';
import type { AskablePerson, TurnPerson } from './passthrough/person.ts';
import { CONNECT } from './personal-tools.ts';

/** The target of an offered tool: an agent, which gets a message, or a tool of a server. */
type CallTarget =
  | { readonly type: 'agent'; readonly agent: string }
  | ({ readonly type: 'tool' } & ServerTool);

/** When a call becomes a task, for a client that declares MCP's extension for tasks. */
interface TaskRule {
  readonly mode: (typeof TASK_MODES)[number];
  /** How long a request waits until its client gets a task instead, in ms. */
  readonly afterMs: number;
}

/** The target of an offered name, and what 2026-07-28 adds to its calls. */
export type OfferedTarget = CallTarget & {
  /** The arguments that calls mirror in headers. */
  readonly paramHeaders?: readonly ParamHeader[];
  /** Absent if no call becomes a task. */
  readonly task?: TaskRule;
};

/** A tool as MCP clients of Parley see it. */
export interface OfferedTool {
  /** Unique among the tools offered to the same caller. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the arguments. An agent has one, `message`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: McpToolHints;
  readonly _meta?: McpTool['meta'];
  readonly target: CallTarget & Pick<OfferedTarget, 'task'>;
}

/** The person to whom tools are offered. */
type OfferedPerson = AskablePerson & Pick<TurnPerson, 'viewer'>;

/** The configuration's offer to MCP clients. */
export interface McpOffering {
  /** All tools that the caller may call. Never asks the person. A server that cannot be reached offers none. */
  list(caller: Caller, person: OfferedPerson, signal: AbortSignal): Promise<readonly OfferedTool[]>;
  /**
   * The target of a name in the list. For a client that shows pages, also of a name that a page uses for its server's tool.
   * Undefined if the caller is not offered such a tool, whether or not it exists. Throws `unavailable` if a server must be
   * asked first and cannot be reached.
   */
  find(
    caller: Caller,
    person: OfferedPerson,
    name: string,
    signal: AbortSignal,
  ): Promise<OfferedTarget | undefined>;
  /** Prompts and resources of servers. */
  readonly content: ServerContent;
  /** The pages of servers in chats of agents. */
  readonly pages: AgentPages;
}

const nothing = async () => [];
const none = async () => undefined;
/** An offering without tools. */
export const NO_OFFERING: McpOffering = {
  list: nothing,
  find: none,
  content: {
    offers: { prompts: false, resources: false },
    listPrompts: nothing,
    listResources: nothing,
    listTemplates: nothing,
    read: none,
    findRead: none,
    watch: none,
    complete: none,
  },
  pages: { read: none, find: none },
};

interface McpOfferingDeps {
  readonly config: AgentsConfig;
  readonly named: Pick<NamedTools, 'list' | 'read' | 'watch'>;
}

type OfferedSource = AgentsConfig['mcpOffer']['tools'][number];

const AGENT_INPUT = {
  type: 'object',
  properties: { message: { type: 'string', description: 'What to tell the agent, in plain text.' } },
  required: ['message'],
  additionalProperties: false,
};

export function createMcpOffering({ config, named }: McpOfferingDeps): McpOffering {
  function agentsFor(caller: Caller): OfferedTool[] {
    return config.mcpOffer.agents.flatMap(({ agent: id, description, task: mode, taskAfterMs: afterMs }) => {
      const agent = config.agents[id];
      if (agent === undefined || !admits(agent.access, caller)) return [];
      const told =
        description ?? `Gives a message to ${agent.title} and returns its answer. It may ask you questions.`;
      const { title } = agent;
      return [
        {
          name: id,
          title,
          description: told,
          inputSchema: AGENT_INPUT,
          target: { type: 'agent', agent: id, task: { mode, afterMs } },
        },
      ];
    });
  }

  function sourcesFor(caller: Caller): readonly OfferedSource[] {
    return config.mcpOffer.tools.filter(({ access }) => access === undefined || admits(access, caller));
  }

  async function toolsOf(source: OfferedSource, person: OfferedPerson, signal: AbortSignal) {
    const { tools, ...list } = await named.list(source.server, person, signal);
    const { viewer = 'model' } = person;
    const isOffered = (tool: McpTool) => isVisible(tool, viewer) && isAllowed(source, tool, list.isKnown);
    return { ...list, tools: tools.filter(isOffered) };
  }

  /**
   * Finds the tool that a page names by its server's own name. A call does not say whose page makes it. So the tool must be the
   * only one of that name for pages, and no server that may have the tool may be unreachable.
   */
  async function ofPage(caller: Caller, person: OfferedPerson, name: string, signal: AbortSignal) {
    if (person.viewer !== 'host') return undefined;
    const found = await Promise.all(
      sourcesFor(caller).map(async (source) => {
        if (!source.resources) return [];
        const { tools, hasFailed } = await toolsOf(source, person, signal);
        if (hasFailed && source.allow?.includes(name) !== false) throw serverUnavailable();
        const own = tools.filter((tool) => tool.name === name && tool.visibility.app);
        return own.map((tool) => offered(source, tool));
      }),
    );
    const [only, ...others] = found.flat();
    return others.length > 0 ? undefined : only;
  }

  /** Finds the tool of the list with that name. */
  async function findNamed(
    caller: Caller,
    person: OfferedPerson,
    name: string,
    signal: AbortSignal,
  ): Promise<OfferedTarget | undefined> {
    const agent = agentsFor(caller).find((one) => one.name === name);
    if (agent !== undefined) return agent.target;
    let unlisted: OfferedTool['target'] | undefined;
    for (const source of sourcesFor(caller)) {
      if (!mayName(source, name)) continue;
      const { tools, isKnown } = await toolsOf(source, person, signal);
      const listed = tools.map((tool) => offered(source, tool)).find((tool) => tool.name === name);
      if (listed !== undefined) return offeredTarget(listed);
      if (isKnown) continue;
      const target = unlistedTarget(source, name);
      // According to the configuration the name belongs to this server, even while it cannot be reached.
      if (target !== undefined && (source.prefix || source.allow !== undefined)) return target;
      unlisted ??= target;
    }
    return unlisted;
  }

  return {
    content: createMcpContent({ config, named }),
    pages: createAgentPages({ config, named }),
    async list(caller, person, signal) {
      const lists = await Promise.all(
        sourcesFor(caller).map(async (source) => {
          const { tools } = await toolsOf(source, person, signal);
          return tools.map((tool) => offered(source, tool));
        }),
      );
      const byName = new Map<string, OfferedTool>();
      for (const tool of [...agentsFor(caller), ...lists.flat()])
        if (!byName.has(tool.name)) byName.set(tool.name, tool);
      return [...byName.values()];
    },
    async find(caller, person, name, signal) {
      const named = await findNamed(caller, person, name, signal);
      if (named !== undefined) return named;
      const own = await ofPage(caller, person, name, signal);
      return own && offeredTarget(own);
    },
  };
}

function offeredTarget({ target, inputSchema }: OfferedTool): OfferedTarget {
  const paramHeaders = paramHeadersOf(inputSchema);
  return { ...target, ...(paramHeaders.length > 0 && { paramHeaders }) };
}

/** True if the tool may be offered. The tool that connects an account is offered whenever a server's list is unknown. */
function isAllowed({ allow }: OfferedSource, { name }: McpTool, isKnown: boolean): boolean {
  return allow === undefined || allow.includes(name) || (!isKnown && name === CONNECT);
}

function offered(source: OfferedSource, tool: McpTool): OfferedTool {
  const { title, description, inputSchema, outputSchema, hints, meta } = tool;
  // A page that clients cannot read is removed from `_meta`, so that they show the text of the result.
  const pageOf = (uri: string) => (source.resources ? scopedAddress(source.server, uri) : undefined);
  return {
    name: source.prefix || tool.name === CONNECT ? tool.modelName : tool.name,
    ...(title !== undefined && { title }),
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: hints,
    ...(meta !== undefined && { _meta: withPages(meta, pageOf) }),
    target: toolTarget(source, tool.name, tool.taskSupport),
  };
}

/** False when no tool of the source is offered under that name, whatever tools the server has. */
function mayName({ server, prefix }: OfferedSource, name: string): boolean {
  const common = modelToolName(server, CONNECT).slice(0, -CONNECT.length);
  return !prefix || name.startsWith(common.slice(0, server.length));
}

/**
 * The target of a tool that the server has not listed, because the person has no account there yet or the server is
 * unavailable.
 */
function unlistedTarget(source: OfferedSource, name: string): OfferedTool['target'] | undefined {
  const { server, prefix, allow } = source;
  const tool = prefix ? name.slice(server.length + 2) : name;
  const isNamed = tool !== '' && (!prefix || modelToolName(server, tool) === name);
  if (!isNamed || allow?.includes(tool) === false) return undefined;
  return toolTarget(source, tool);
}

const MODES: Readonly<Record<TaskSupport, TaskRule['mode']>> = {
  forbidden: 'never',
  optional: 'auto',
  required: 'required',
};

/** The target for a server's tool. The configuration of its tasks takes precedence over the server's declaration. */
function toolTarget(source: OfferedSource, tool: string, support?: TaskSupport): OfferedTool['target'] {
  const own = Object.hasOwn(source.perTool, tool) ? source.perTool[tool] : undefined;
  const mode = own?.task ?? source.task ?? (support === undefined ? 'auto' : MODES[support]);
  const afterMs = own?.taskAfterMs ?? source.taskAfterMs;
  return { type: 'tool', server: source.server, tool, task: { mode, afterMs } };
}
