import { type ChatMessage, type ChatRequest, textOf } from './protocol.ts';

/** A tool that the request offers. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** Its JSON Schema. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a tool gave back, with the call that it answers. */
export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: string;
  readonly text: string;
}

/** A request as a script reads it. */
export interface Turn {
  /** The instructions: all system messages joined. */
  readonly system: string;
  /** The text of the last user message. */
  readonly userText: string;
  /** The results of the tool calls since that message, in the order of the calls. */
  readonly results: readonly ToolResult[];
  /** Empty when `tool_choice` is `none`. */
  readonly tools: readonly OfferedTool[];
  readonly messages: readonly ChatMessage[];
}

/** A tool call to make. Arguments given as text go out as they are, be they JSON or not. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** The model's reply; several calls are made in parallel. */
export interface ScriptedReply {
  /** What it thinks first. */
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** `tool_calls` with calls and `stop` without, by default. */
  readonly finishReason?: FinishReason;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** One rule: its reply to this turn, or nothing to leave it to the next rule. Must be a pure function of the turn. */
export type ScriptRule = (turn: Turn) => ScriptedReply | undefined;

/** The first rule that replies decides. */
export type Script = readonly ScriptRule[];

/** What is said when no rule replies. */
const NO_LINE = 'I am a scripted model and have no line for that.';

/** What a script replies to a request: nothing but the script, the messages and the tools decide. */
export function replyOf(script: Script, request: ChatRequest): ScriptedReply {
  const turn = turnOf(request);
  for (const rule of script) {
    const reply = rule(turn);
    if (reply !== undefined) return reply;
  }
  return { text: NO_LINE };
}

/** A request as its script sees it. */
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
