/** The interface between a run and its tools. The tools are in `agents/tools`, the run is in `agents/loop`. */

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
      /** Shown on the turn's stream in place of `output`, if `output` is for the model alone. */
      readonly shown?: unknown;
      /** The content of the server's page, in chats that show its pages. */
      readonly page?: CallPage;
    }
  | {
      readonly type: 'failed';
      readonly message: string;
      /** The turn ends with the step of this call, because the person wrote a message instead of approving it. */
      readonly endsTurn?: true;
      /** The capability that the server requires the caller to declare; for callers other than models. */
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

/** The error for a caller that names a tool that does not exist or that it may not use. It does not name the tool. */
export const NO_SUCH_TOOL = 'There is no such tool. Call only tools that you were given.';

/** A call of a remote agent that needs an approval within a call. */
export interface InnerApproval {
  /** The name of the remote agent's call within this one, as its events name it. */
  readonly callName: string;
  /** Distinguishes it from other approvals of the same call. */
  readonly key: string;
}

/** One call of a tool within a turn. */
export interface ToolCall {
  /** Unique within the turn. */
  readonly toolCallId: string;
  /** Unique among the calls of all runs. It stays the same when another pod continues the call. */
  readonly callKey: string;
  readonly input: unknown;
  /** How a question would reach the person now. A tool does not ask if the question would reach nobody. */
  readonly reach: ReachOfQuestion;
  /** False if the turn has no person. Then no question is asked or recorded. */
  readonly isAttended: boolean;
  /** How many deployments in a row have delegated the turn through A2A, up to this one. */
  readonly hops: number;
  /**
   * Asks the person and waits for the outcome. Asking the same `ordinal` again returns the same question. So does every call of
   * the turn that uses the same name in `options.shared`. A question that reaches nobody is withdrawn at once as
   * `undeliverable`; the outcome then carries its `onUnavailable` content.
   */
  ask(ordinal: number, question: AgentQuestion, options?: AskOptions): Promise<AskOutcome>;
  /**
   * Asks the person to approve the call. Repeating it returns the same decision, also on another pod that continues the call.
   * If the turn has no person, it refuses at once. `within` identifies an action of a remote agent within the call; each has
   * its own decision.
   */
  approve(needed: NeededApproval, within?: InnerApproval): Promise<ApprovalOutcome>;
  /** Runs a wait for the person other than a question. It does not count as work of the turn. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** How long a pod holds a turn that only waits, in ms. */
  readonly holdMs: number;
  /**
   * Runs a pause of a call whose state is recorded, so that any pod can continue it. If every part of a turn pauses or waits,
   * the turn may be released. It then continues after `ms`, or earlier when one of its questions ends.
   */
  rest(ms: number, pause: () => Promise<void>): Promise<void>;
  /**
   * Marks the call as busy until the returned function is called, so that its pod keeps the turn although questions are open.
   */
  work(): () => void;
  /**
   * Records the call as dispatched, and resolves to the input to send. A tool awaits it immediately before it sends anything
   * that may have an effect.
   */
  beforeDispatch(): Promise<unknown>;
  /** Records that a dispatched call was refused without any effect. The call may then be repeated, even by another pod. */
  notExecuted(): Promise<void>;
  /** The state that `saveRound` last stored, on this pod or on the run's previous owner. */
  round(): string | undefined;
  /**
   * Records how any pod can continue the call, for example with a sealed round of questions that must be answered before the
   * call is sent again. The run's next owner then makes the call again, even if it has had effects. A sealed round names its
   * server.
   */
  saveRound(round: string, serverId?: string): Promise<void>;
  /** Lets the agent's own model write a text for the call's server, once the person has approved it. Absent without a model. */
  sample?(request: SampleForServer): Promise<Readonly<Record<string, unknown>>>;
  /** Delegates a task to another agent, in a run of its own. The answer of that run is the outcome. */
  delegate(agent: string, task: string): Promise<ToolOutcome>;
  /** Appends an additional event of the call, such as `tool-auth-required`, to the turn's feed. */
  appendEvent(event: CallEvent): Promise<void>;
  /** Aborted when the turn is stopped or another pod takes it over. */
  readonly signal: AbortSignal;
  /** Aborted once this pod has released the call's run to another one, or has failed to release it. */
  readonly released: AbortSignal;
}

/** A call, and the name of its tool for models. */
export type NamedCall = ToolCall & { readonly toolName: string };

/** A tool that a model may call. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** True if a call with an unknown outcome may be repeated, because it is read-only or idempotent. */
  readonly isRepeatable?: boolean;
  /** True if a call uses the run's tokens. The remaining tokens are split among such calls of a step. */
  readonly usesTokens?: true;
  /** The server's own description of the tool. Absent for tools that do not belong to a server. */
  readonly source?: McpTool;
  /** The input of a call as the turn's stream shows it, without the values that approvals mask. */
  readonly shownInput?: (input: unknown) => unknown;
  /**
   * Rejects only with the reason of the call's own signal. Waits for people do not count towards the tool's timeout.
   */
  call(call: ToolCall): Promise<ToolOutcome>;
}
