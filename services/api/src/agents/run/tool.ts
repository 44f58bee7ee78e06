import type { CallPage, TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { McpTool, ServerRefusal } from '../mcp/results.ts';
import type { ApprovalOutcome, NeededApproval } from './needed-approval.ts';
import type { AgentQuestion, AskOptions, AskOutcome } from './question.ts';
import type { ReachOfQuestion } from './reach.ts';
import type { SampleForServer } from './sample-request.ts';

/** The outcome of a tool call, as the model reads it. A failure's message is a sentence for model and people alike. */
export type ToolOutcome =
  | {
      readonly type: 'returned';
      readonly output: unknown;
      /** What the turn's stream shows in place of `output`, when `output` is for the model alone. */
      readonly shown?: unknown;
      /** What the page of the server shows, where chats show its pages. */
      readonly page?: CallPage;
    }
  | {
      readonly type: 'failed';
      readonly message: string;
      /** The turn ends with the step of this call: its person wrote a message instead of approving it. */
      readonly endsTurn?: true;
      /** What the caller must declare for the call to be possible, as its server says; for callers that are no model. */
      readonly refusal?: ServerRefusal;
      readonly page?: CallPage;
    };

export function failed(message: string, endsTurn?: true): ToolOutcome {
  return { type: 'failed', message, ...(endsTurn !== undefined && { endsTurn }) };
}

/** An event about one tool call. */
export type CallEvent = Extract<TurnEvent, { readonly toolCallId: string }>;

/** True for an event about a tool call. */
export function isCallEvent(event: TurnEvent): event is CallEvent {
  return 'toolCallId' in event;
}

/** What a caller reads who names a tool that there is not, or that is not for them. It names no tool. */
export const NO_SUCH_TOOL = 'There is no such tool. Call only tools that you were given.';

/** Something that needs an approval within a call: a call of a remote agent. */
export interface InnerApproval {
  /** The name of the remote agent's call within this one, as its events name it. */
  readonly callName: string;
  /** Tells it from other approvals of the same call. */
  readonly key: string;
}

/** One call of a tool within a turn. */
export interface ToolCall {
  /** Unique within the turn. */
  readonly toolCallId: string;
  /** Unique among the calls of all runs. It stays the same when another pod continues the call. */
  readonly callKey: string;
  readonly input: unknown;
  /** How a question would get to the person now. A tool asks nothing that reaches nobody. */
  readonly reach: ReachOfQuestion;
  /** False when the turn has no person: then no question is asked or recorded. */
  readonly isAttended: boolean;
  /** How many deployments have delegated the turn to this one through A2A, one to the next. */
  readonly hops: number;
  /**
   * Asks the person and waits for the outcome. Asking the same `ordinal` again returns the same question, and so does
   * every call of the turn that asks under the same name of `options.shared`. A question that reaches nobody is withdrawn at
   * once as `undeliverable`, and the outcome carries its `onUnavailable` content.
   */
  ask(ordinal: number, question: AgentQuestion, options?: AskOptions): Promise<AskOutcome>;
  /**
   * Has the person approve the call. Repeating it returns the same decision, also on the pod that continues the call.
   * Where no person takes part it refuses at once. `within` names what a remote agent does within the call: each has a
   * decision of its own.
   */
  approve(needed: NeededApproval, within?: InnerApproval): Promise<ApprovalOutcome>;
  /** Runs a wait for the person that is no question. It does not count as work of the turn. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** How long a pod keeps a turn that only waits, in ms. */
  readonly holdMs: number;
  /**
   * Runs a pause of a call that has work to do and is recorded so that any pod continues it. A turn of which every part pauses or
   * waits may be released in the meantime. It is then continued after `ms`, or earlier when one of its questions ends.
   */
  rest(ms: number, pause: () => Promise<void>): Promise<void>;
  /** The call has work to do until the returned function is called: its pod keeps the turn although questions are open. */
  work(): () => void;
  /**
   * Records the call as dispatched and resolves to the input to send. A tool awaits it right before it sends anything
   * that may have an effect.
   */
  beforeDispatch(): Promise<unknown>;
  /**
   * Records that a dispatched call was refused without any effect. The call may then be repeated, also by another pod.
   */
  notExecuted(): Promise<void>;
  /** What was last saved by `saveRound`, by this pod or by the run's previous owner. */
  round(): string | undefined;
  /**
   * Records how any pod continues the call, such as a sealed round of questions that must be answered before it is sent
   * again. The call is then made again by the run's next owner, also when it has had effects. A sealed one names its server.
   */
  saveRound(round: string, serverId?: string): Promise<void>;
  /** Has the agent's own model write a text for the call's server, once the person has approved it. Absent without a model. */
  sample?(request: SampleForServer): Promise<Readonly<Record<string, unknown>>>;
  /** Hands a task to another agent, as a run of its own. That run's answer is the outcome. */
  delegate(agent: string, task: string): Promise<ToolOutcome>;
  /** Appends an event beside the call's own, such as `tool-auth-required`, to the turn's feed. */
  appendEvent(event: CallEvent): Promise<void>;
  /** Aborted when the turn is stopped or lost. */
  readonly signal: AbortSignal;
  /** Aborted once this pod has released the run of the call to another one, or has failed to. */
  readonly released: AbortSignal;
}

/** A call, and the name of its tool for models. */
export type NamedCall = ToolCall & { readonly toolName: string };

/** Something a model may call. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** True when a call with an unknown outcome may be repeated: it is read-only or idempotent. */
  readonly isRepeatable?: boolean;
  /** True when a call uses tokens of the run: those that are left are split among such calls of a step. */
  readonly usesTokens?: true;
  /** The server's own description of the tool. Absent for tools that are no server's. */
  readonly source?: McpTool;
  /** The input of a call as the turn's stream shows it, without the values that an approval masks. */
  readonly shownInput?: (input: unknown) => unknown;
  /**
   * Rejects only with the reason of the call's own signal. Waits for people do not count towards the tool's timeout.
   */
  call(call: ToolCall): Promise<ToolOutcome>;
}
