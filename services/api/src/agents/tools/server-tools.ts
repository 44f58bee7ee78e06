/** Converts tools and results of MCP servers to those of the loop. Tools with a person's account are in `personal-tools.ts`. */

import type { McpServerRef } from '../mcp/calls/mcp-tools.ts';
import { textOf } from '../mcp/content.ts';
import type { McpCallResult, McpFailure, McpTool } from '../mcp/results.ts';
import { isVisible, pageOf } from '../mcp/visibility.ts';
import {
  failed,
  type NamedCall,
  NO_SUCH_TOOL,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from '../run/tool.ts';
import { sendCall, taskOf } from './passthrough/send-call.ts';
import type { SendRules } from './passthrough/send-rules.ts';

interface ServerToolsOptions extends SendRules {
  readonly server: McpServerRef;
  /** Names of the tools that may be called; absent: all. */
  readonly allow?: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * The tools of an MCP server that does not need the person's credential. A server that cannot be reached offers none: the turn
 * continues without it, and `onFailure` gets the reason.
 */
export async function serverTools(
  { server, allow, signal, ...rules }: ServerToolsOptions,
  onFailure: (failure: McpFailure) => void,
): Promise<Tool[]> {
  const list = await server.listTools({ signal });
  if (list.type !== 'tools') {
    onFailure(list);
    return [];
  }
  return allowed(list.tools, allow, rules).map((tool) =>
    toolOf(tool, async (call) => {
      const { title } = server;
      const result = await sendCall(call, server, tool.name, rulesFor(tool, rules));
      return withPage(outcomeOf(title, result), result, { call, server: server.id, title, tool });
    }),
  );
}

/** A server that may have made tasks of calls. */
export interface TaskServer {
  readonly rules: SendRules;
  /** Attends to the task of a call, as the server's tools do. */
  readonly attend: (call: NamedCall) => Promise<ToolOutcome>;
}

/**
 * Continues a call of which a server made a task, even if its tool is not offered now, for example because the server's tools
 * could not be listed. A task can be read without its tool. Other calls go to `otherwise`.
 */
export function recordedTaskTool(name: string, servers: readonly TaskServer[], otherwise?: Tool): Tool {
  return {
    name,
    description: '',
    inputSchema: { type: 'object' },
    async call(call) {
      const server = servers.find(({ rules }) => taskOf(call, rules) !== undefined);
      if (server !== undefined) return server.attend({ ...call, toolName: name });
      return otherwise?.call(call) ?? failed(NO_SUCH_TOOL);
    },
  };
}

/** The tools of a list that an agent may call: those that the configuration allows and that are visible to models. */
export function allowed(
  tools: readonly McpTool[],
  allow: readonly string[] | undefined,
  { viewer }: Pick<SendRules, 'viewer'>,
): readonly McpTool[] {
  return tools.filter(
    (tool) => isVisible(tool, viewer) && (allow === undefined || allow.includes(tool.name)),
  );
}

/** Converts a server's tool to a tool for the loop. */
export function toolOf(tool: McpTool, call: Tool['call']): Tool {
  return {
    name: tool.modelName,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    inputSchema: tool.inputSchema,
    source: tool,
    isRepeatable: tool.hints.readOnlyHint || tool.hints.idempotentHint,
    call,
  };
}

/** Converts a result to an outcome for the model. */
export function outcomeOf(title: string, result: McpCallResult): ToolOutcome {
  switch (result.type) {
    case 'result': {
      const text = textOf(result.content);
      if (result.isError) return failed(text === '' ? `${title} reported an error without a message.` : text);
      return { type: 'returned', output: result.structuredContent ?? text };
    }
    case 'unauthorized':
      return failed(refusalOf(title, result.status));
    case 'timeout':
      return failed(`${title} did not answer in time${effectNote(result.dispatched)}.`);
    case 'unavailable':
      return failed(`${title} could not be reached${effectNote(result.dispatched)}: ${result.message}`);
    case 'lost':
      return failed(
        `The outcome of the call of ${title} is lost. ${result.message} It may or may not have had its effect.`,
      );
    case 'refused':
      return failed(`${title} refused the call: ${result.message}`);
    case 'input_required':
      return failed(`${title} asks the user for something that cannot be asked: ${result.message}`);
    case 'round':
      return failed(`${title} asks the user for something where nobody can be asked.`);
  }
}

/** The rules for the calls of one tool. Results are kept for a page only if the tool has one. */
export function rulesFor({ meta }: McpTool, { pages, ...rules }: SendRules): SendRules {
  return { ...rules, pages: pages === true && pageOf(meta) !== undefined };
}

interface PagedCall {
  readonly call: Pick<ToolCall, 'callKey'>;
  readonly server: string;
  readonly title: string;
  readonly tool: McpTool;
}

/** Adds to the outcome what the page of its tool shows, if the result was kept for it. */
export function withPage(
  outcome: ToolOutcome,
  result: McpCallResult | { readonly type: 'not_connected' },
  { call, server, title, tool }: PagedCall,
): ToolOutcome {
  const uri = pageOf(tool.meta);
  if (result.type !== 'result' || result.whole === undefined || uri === undefined) return outcome;
  const pageId = call.callKey.replace(' ', '~');
  return {
    ...outcome,
    page: { pageId, server, service: title, tool: tool.name, uri, result: result.whole },
  };
}

/** Converts a result for a caller other than a model. A result of the server is passed on complete, even if it is an error. */
export function wholeOutcomeOf(title: string, result: McpCallResult): ToolOutcome {
  if (result.type === 'result' && result.whole !== undefined)
    return { type: 'returned', output: result.whole };
  const outcome = outcomeOf(title, result);
  const { refusal } = result.type === 'input_required' || result.type === 'refused' ? result : {};
  return outcome.type === 'failed' && refusal !== undefined ? { ...outcome, refusal } : outcome;
}

function refusalOf(title: string, status: 401 | 403): string {
  return status === 403
    ? `${title} refused the call: the account lacks a permission that this needs. Do not retry; tell the user.`
    : `${title} refused the credential it was given. Do not retry; tell the user.`;
}

function effectNote(dispatched: 'no' | 'maybe'): string {
  return dispatched === 'maybe'
    ? ', so the call may or may not have had its effect'
    : ', and nothing was done';
}
