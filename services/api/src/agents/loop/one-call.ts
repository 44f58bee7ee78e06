import { isRecord } from '@parley/shared/domain/plain-record';
import type { Message } from '@parley/shared/domain/runs/run';
import { modelToolName } from '../mcp/calls/tool-name.ts';
import type { RequestedCall, StepReply } from './model-step.ts';

/** One tool of a server of the configuration, by the server's own name for it. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

// No agent of a configuration has an id with a colon.
const PREFIX = 'mcp:';
const CALL_ID = 'call';

/** What a run of one call has in place of an agent's id, so that any pod can continue it. */
export function oneCallId({ server, tool }: ServerTool): string {
  return `${PREFIX}${server}/${tool}`;
}

/** The tool of a run of one call. Undefined for the id of an agent. */
export function parseOneCallId(id: string): ServerTool | undefined {
  const at = id.indexOf('/');
  if (!id.startsWith(PREFIX) || at < 0) return undefined;
  return { server: id.slice(PREFIX.length, at), tool: id.slice(at + 1) };
}

/** The input of a run of one call: the message with which a model would make the call. */
export function callMessage({ server, tool }: ServerTool, input: Readonly<Record<string, unknown>>): Message {
  const call = { type: 'tool-call', toolCallId: CALL_ID, toolName: modelToolName(server, tool), input };
  return { role: 'assistant', content: [call] };
}

/** The only step of a run of one call. It takes the place of a model's reply. */
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
