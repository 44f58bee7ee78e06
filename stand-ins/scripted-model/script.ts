/** The type of a script, and how a request is seen by it. The demo's script is in `demo.ts`. */

import { type ChatMessage, type ChatRequest, textOf } from './protocol.ts';

/** A tool that the request offers. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** Its JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The result of a tool, with the call that it answers. */
export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  /** The text of the arguments as the model wrote it. */
  readonly arguments: string;
  readonly text: string;
}

/** A request as its script sees it. */
export interface Turn {
  /** The instructions: all system messages together. */
  readonly system: string;
  /** The text of the last user message. */
  readonly userText: string;
  /** The results of the tool calls since that message, in the order of the calls. */
  readonly results: readonly ToolResult[];
  /** Empty if `tool_choice` is `none`. */
  readonly tools: readonly OfferedTool[];
  readonly messages: readonly ChatMessage[];
}

/** A tool call to make. Arguments given as text are sent unchanged, even if they are not JSON. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** The model's reply. Several calls are made in parallel. */
export interface ScriptedReply {
  /** The model's reasoning, which comes first. */
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** `tool_calls` with calls and `stop` without, by default. */
  readonly finishReason?: FinishReason;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** One rule: returns its reply to this turn, or undefined to leave it to the next rule. Must be a pure function of the turn. */
export type ScriptRule = (turn: Turn) => ScriptedReply | undefined;

/** Rules in order. The first one with a reply decides. */
export type Script = readonly ScriptRule[];

/** The reply if no rule has one. */
const NO_LINE = 'I am a scripted model and have no line for that.';

/** The reply of a script to a request. It depends only on the script, the messages and the tools. */
export function replyOf(script: Script, request: ChatRequest): ScriptedReply {
  const turn = turnOf(request);
  for (const rule of script) {
    const reply = rule(turn);
    if (reply !== undefined) return reply;
  }
  return { text: NO_LINE };
}

/** Converts a request for its script. */
export function turnOf({ messages, tools = [], tool_choice }: ChatRequest): Turn {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  return {
    system: messages
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => textOf(content))
      .join('\n'),
    userText: textOf(messages[lastUser]?.content),
    results: resultsOf(messages.slice(lastUser + 1)),
    tools:
      tool_choice === 'none'
        ? []
        : tools.map(({ function: { name, description = '', parameters = {} } }) => ({
            name,
            description,
            parameters,
          })),
    messages,
  };
}

function resultsOf(messages: readonly ChatMessage[]): ToolResult[] {
  const texts = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.tool_call_id, textOf(message.content)] as const] : [],
    ),
  );
  return messages
    .flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []))
    .flatMap(({ id, function: called }) => {
      const text = texts.get(id);
      return text === undefined ? [] : [{ callId: id, name: called.name, arguments: called.arguments, text }];
    });
}
