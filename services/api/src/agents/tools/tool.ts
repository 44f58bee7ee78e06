import type { Support } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { AskOutcome, Question } from './question.ts';

/** What came of a tool call, as the model reads it. A failure's message is a sentence for model and people alike. */
export type ToolOutcome =
  | {
      readonly type: 'returned';
      readonly output: unknown;
      /** What the turn's stream shows in place of `output`, when that is for the model alone. */
      readonly shown?: unknown;
    }
  | { readonly type: 'failed'; readonly message: string };

export function failed(message: string): ToolOutcome {
  return { type: 'failed', message };
}

/** One call of a tool within a turn. */
export interface ToolCall {
  /** Unique within the turn. */
  readonly toolCallId: string;
  /** Names the call among those of all runs; the same when another pod goes on with it. */
  readonly callKey: string;
  readonly input: unknown;
  readonly support: Support;
  /**
   * Asks the person and waits; asking the same `ordinal` again finds the same question, and so does every call of the
   * turn that asks under the same `shared` name. A form that the client cannot show is taken back at once as
   * `undeliverable`, and its `onUnavailable` handed over.
   */
  ask(ordinal: number, question: Question, shared?: string): Promise<AskOutcome>;
  /** To be awaited right before anything leaves that may have effects. */
  leaving(): Promise<unknown>;
  /** To be awaited when what left came back without having been done: it may be made again, also by another pod. */
  unmade(): Promise<void>;
  /** Hands a task to another agent, as a run of its own; what it answers is the outcome. */
  delegate(agent: string, task: string): Promise<ToolOutcome>;
  /** Tells the turn's readers something beside the call's own events, such as `tool-auth-required`. */
  tell(event: Extract<TurnEvent, { readonly toolCallId: string }>): Promise<void>;
  /** Aborted when the turn is stopped or lost. */
  readonly signal: AbortSignal;
}

/** Something a model may call. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** True when a call whose outcome is unknown may be made again: it changes nothing, or nothing more the second time. */
  readonly isRepeatable?: boolean;
  /** Never throws but for the call's own signal; time that people take is not the tool's time. */
  call(call: ToolCall): Promise<ToolOutcome>;
}
