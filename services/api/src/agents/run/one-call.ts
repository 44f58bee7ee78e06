import { isRecord } from '@parley/core/domain/plain-record';
import type { Message } from '@parley/shared/domain/runs/run';
import type { AskingReadMethod } from '../mcp/calls/read-request.ts';
import { modelToolName } from '../mcp/calls/tool-name.ts';
import type { RequestedCall, StepReply } from './step.ts';

/** A tool of a configured server, by the server's own name for it. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
  /**
   * The agent in whose chat a page of the server makes the call. That agent's limits and approvals apply. Absent if an MCP
   * client calls.
   */
  readonly agent?: string;
}

/** A read request to a configured server, which may ask during it. The input of the call has the parameters. */
export interface ServerRead {
  readonly server: string;
  readonly read: AskingReadMethod;
}

/** The content of a single-call run. */
export type OneCall = ServerTool | ServerRead;

// Configured agents' ids never contain a colon.
const TOOL_PREFIX = 'mcp:';
const READ_PREFIX = 'mcp-read:';
const PAGE_PREFIX = 'mcp-page:';
const CALL_ID = 'call';

/** The id that a single-call run has in place of an agent's id, so that any pod can continue it. */
export function oneCallId(call: OneCall): string {
  if ('read' in call) return `${READ_PREFIX}${call.server}/${call.read}`;
  const { agent, server, tool } = call;
  return agent === undefined ? `${TOOL_PREFIX}${server}/${tool}` : `${PAGE_PREFIX}${agent}/${server}/${tool}`;
}

/** Parses the id of a single-call run. Undefined for the id of an agent. */
export function parseOneCallId(id: string): OneCall | undefined {
  if (id.startsWith(PAGE_PREFIX)) {
    const [agent = '', server = '', ...tool] = id.slice(PAGE_PREFIX.length).split('/');
    return { agent, server, tool: tool.join('/') };
  }
  const prefix = [TOOL_PREFIX, READ_PREFIX].find((one) => id.startsWith(one));
  const at = id.indexOf('/');
  if (prefix === undefined || at < 0) return undefined;
  const [server, name] = [id.slice(prefix.length, at), id.slice(at + 1)];
  return prefix === TOOL_PREFIX ? { server, tool: name } : { server, read: name as AskingReadMethod };
}

/** The name of the only tool of a single-call run. */
export function oneCallTool(call: OneCall): string {
  return modelToolName(call.server, 'read' in call ? call.read : call.tool);
}

/** The input of a single-call run: the message with which a model would make the call. */
export function callMessage(one: OneCall, input: Readonly<Record<string, unknown>>): Message {
  const call = { type: 'tool-call', toolCallId: CALL_ID, toolName: oneCallTool(one), input };
  return { role: 'assistant', content: [call] };
}

/** The only step of a single-call run, in place of a model's reply. */
export const replyWithCall: StepReply = async ({ messages }) => {
  const asked = messages.filter((message) => callsIn(message).length > 0).slice(-1);
  return { record: { messages: asked, finishReason: 'tool-calls' }, calls: asked.flatMap(callsIn) };
};

function callsIn({ content }: Message): RequestedCall[] {
  if (!Array.isArray(content)) return [];
  return content
    .filter(isRecord)
    .flatMap(({ type, toolCallId, toolName, input }) =>
      type === 'tool-call' ? [{ modelCallId: String(toolCallId), toolName: String(toolName), input }] : [],
    );
}
