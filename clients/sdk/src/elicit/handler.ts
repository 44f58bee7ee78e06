import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { Ask } from './asks.ts';
import type { AnswerFault } from './flat-fields.ts';

interface PromptBase {
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  readonly sensitive?: boolean;
  /** The ask that the prompt belongs to. */
  readonly ask: Ask;
  /** Which page of the ask this is, from 0. */
  readonly page: number;
  /** Why the last answer to this prompt was refused; empty at first. Show it with the fields that it names. */
  readonly faults: readonly AnswerFault[];
}

/** One thing that a handler shows: a flat form, a page to open, or a hidden input. */
export type Prompt =
  | (PromptBase & { readonly mode: 'form'; readonly schema: FormSchema })
  | (PromptBase & { readonly mode: 'url'; readonly url: string })
  | (PromptBase & { readonly mode: 'secret'; readonly name?: string });

/** How a handler's prompt ended. */
export type PromptReply =
  /** `content` is the form's content, the secret as a string, or nothing for a url. */
  | { readonly action: 'accept'; readonly content?: unknown }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }
  | { readonly action: 'expire' }
  | { readonly action: 'withdraw'; readonly reason: string };

export interface HandlerCall {
  /** Aborted at the deadline of the ask and when the caller gives up. The handler takes its prompt away. */
  readonly signal: AbortSignal;
  /** What remains until the deadline. */
  readonly remainingMs: number;
  /** The same for the same prompt after a restart; absent unless a workflow asks. */
  readonly key?: string;
}

/** A way to ask a person. */
export interface ElicitationHandler {
  /** Names the handler in outcomes and errors. */
  readonly name: string;
  /** Handlers with a higher priority are tried first; equal ones in the order given. @default 0 */
  readonly priority?: number;
  /** True: the handler has one screen, so that its prompts are shown one after the other. @default false */
  readonly oneAtATime?: boolean;
  /** Whether the person can be shown this now. A rejection counts as false. */
  canHandle(prompt: Prompt): boolean | Promise<boolean>;
  /** Shows the prompt and waits. A rejection hands the prompt over to the next handler, but for a QuestionLostError. */
  handle(prompt: Prompt, call: HandlerCall): Promise<PromptReply>;
}
