import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { Ask } from './asks.ts';
import type { AnswerFault } from './flat-fields.ts';

interface PromptBase {
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  readonly sensitive?: boolean;
  /** The ask to which the prompt belongs. */
  readonly ask: Ask;
  /** The index of this page within the ask. */
  readonly page: number;
  /** Why the last answer to this prompt was refused; empty at first. Show each fault with the field that it names. */
  readonly faults: readonly AnswerFault[];
}

/** What a handler shows at one time: a flat form, a page to open, or a hidden input. */
export type Prompt =
  | (PromptBase & { readonly mode: 'form'; readonly schema: FormSchema })
  | (PromptBase & { readonly mode: 'url'; readonly url: string })
  | (PromptBase & { readonly mode: 'secret'; readonly name?: string });

/** How a handler's prompt ended. */
export type PromptReply =
  /** `content` is the form's content or the secret as a string; absent for a url. */
  | { readonly action: 'accept'; readonly content?: unknown }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' }
  | { readonly action: 'expire' }
  | { readonly action: 'withdraw'; readonly reason: string };

export interface HandlerCall {
  /** Aborted at the deadline of the ask and when the caller gives up. The handler must then remove its prompt. */
  readonly signal: AbortSignal;
  /** The time until the deadline, in ms. */
  readonly remainingMs: number;
  /** A key that is the same for the same prompt after a restart; absent unless a workflow asks. */
  readonly key?: string;
}

/** A way to ask a person. */
export interface ElicitationHandler {
  /** The name of the handler in outcomes and errors. */
  readonly name: string;
  /** Handlers with a higher priority are tried first, and equal ones in the given order. @default 0 */
  readonly priority?: number;
  /** True if the handler has only one screen, so that its prompts are shown one after another. @default false */
  readonly oneAtATime?: boolean;
  /** Whether this prompt can be shown to the person now. A rejection counts as false. */
  canHandle(prompt: Prompt): boolean | Promise<boolean>;
  /** Shows the prompt and waits. After a rejection, the next handler shows it, except after a QuestionLostError. */
  handle(prompt: Prompt, call: HandlerCall): Promise<PromptReply>;
}
