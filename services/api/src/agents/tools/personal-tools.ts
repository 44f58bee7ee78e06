import { modelToolName } from '../mcp/calls/tool-name.ts';
import type { McpFailure, McpTool } from '../mcp/results.ts';
import type { Tool, ToolOutcome } from '../run/tool.ts';
import type { ServiceRefusal } from './account-question.ts';
import { sendCall } from './passthrough/send-call.ts';
import type { SendRules } from './passthrough/send-rules.ts';
import type { PersonalService } from './personal-service.ts';
import { allowed, outcomeOf, rulesFor, toolOf, withPage } from './server-tools.ts';

interface PersonalToolsOptions extends SendRules {
  /** Id of the server. */
  readonly id: string;
  readonly service: PersonalService;
  /** The tools offered before the person has connected: without the person's credential, the server must not be called. */
  readonly announced: readonly McpTool[];
  readonly allow?: readonly string[];
  readonly signal: AbortSignal;
  /** Names of tools that the current step has already called. They stay offered even if the list has changed. */
  readonly called?: ReadonlySet<string>;
}

/**
 * The tools of a server that acts with the person's own account. Before the person has connected, the announced tools are
 * offered, and the first call asks the person to connect. If no tools are announced, a single tool is offered that asks them to
 * connect.
 */
export async function personalTools(
  { id, service, announced, allow, signal, called, ...rules }: PersonalToolsOptions,
  onFailure: (failure: McpFailure) => void,
): Promise<Tool[]> {
  const list = await service.read((server) => server.listTools({ signal }), signal);
  if (list !== undefined && list.type !== 'tools') onFailure(list);
  const isKnown = list?.type === 'tools';
  if (!isKnown && announced.length === 0) return list === undefined ? [connectTool(id, service)] : [];
  const connect = called?.has(connectName(id)) === true ? [connectTool(id, service)] : [];
  const tools = allowed(isKnown ? list.tools : announced, allow, rules).map((tool) =>
    toolOf(tool, async (call) => {
      const { title } = service;
      const result = await service.call({ ...call, toolName: tool.modelName }, (server) =>
        sendCall(call, server, tool.name, rulesFor(tool, rules)),
      );
      return result.type === 'not_connected'
        ? notConnected(result)
        : withPage(outcomeOf(title, result), result, { call, server: id, title, tool });
    }),
  );
  return [...connect, ...tools];
}

/** Name of the tool that is offered while the server's tools are unknown. */
export const CONNECT = 'connect';

const connectName = (id: string) => modelToolName(id, CONNECT);

/** The tool that asks the person to connect. */
export function connectTool(id: string, service: PersonalService): Tool {
  const name = connectName(id);
  const { title } = service;
  return {
    name,
    title: `Connect ${title}`,
    description: `Asks the user to connect their account at ${title}. Its tools can be called after that.`,
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    async call(call) {
      const result = await service.connect({ ...call, toolName: name });
      return result === 'connected'
        ? { type: 'returned', output: `${title} is connected; its tools can be called now.` }
        : notConnected(result);
    },
  };
}

export function notConnected({ message }: ServiceRefusal): ToolOutcome {
  return { type: 'failed', message };
}
