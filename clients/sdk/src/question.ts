import type { AskInput } from '@parley/shared/domain/elicitations/ask-input';
import type { Completion } from '@parley/shared/domain/elicitations/status';
import type { ContentOf, FormSchemaInput } from './typed-form.ts';

/** The fields of every question. */
export interface QuestionBase {
  /** The person who is asked, by the id in their token. */
  readonly userId: string;
  /** The stream that carries the question; created when absent. */
  readonly streamRequestId?: string;
  readonly conversationId?: string;
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  /** The answer must be kept from the model. */
  readonly sensitive?: boolean;
  /** Why the question is asked; `trigger` is a short word such as `agent` or `credential_required`. */
  readonly context?: Readonly<Partial<NonNullable<AskInput['context']>>>;
  /** An https URL that receives a signed POST when the question ends (docs/webhooks.md). */
  readonly webhookUrl?: string;
  /** 1 to 604800. @default 600 */
  readonly timeoutSeconds?: number;
}

/** Asks for the fields of a form. */
export interface FormQuestion extends QuestionBase {
  readonly mode: 'form';
  readonly requestedSchema: FormSchemaInput;
  /** The asker's default for a client that cannot show the question. It is never an answer. */
  readonly onUnavailable?: {
    readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  };
}

/** Asks the person to open a page. */
export interface UrlQuestion extends QuestionBase {
  readonly mode: 'url';
  readonly url: string;
  /** `client`: accepting settles it. `server`: it waits for `complete`. @default 'client' */
  readonly completion?: Completion;
}

export type Question = FormQuestion | UrlQuestion;

/** The content of an accepted answer to this question; a url question has none. */
export type AnswerTo<Asked> = Asked extends { readonly mode: 'form'; readonly requestedSchema: infer Schema }
  ? ContentOf<Schema>
  : undefined;
