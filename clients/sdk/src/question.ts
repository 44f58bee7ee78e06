import type { AskInput } from '@parley/shared/domain/elicitations/ask-input';
import type { Completion } from '@parley/shared/domain/elicitations/status';
import type { ContentOf, FormSchemaInput } from './typed-form.ts';

/** What every question has, whatever its mode. */
export interface QuestionBase {
  /** The person asked, as their token names them. */
  readonly userId: string;
  /** The stream that shows the question; minted when absent. */
  readonly streamRequestId?: string;
  readonly conversationId?: string;
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  /** The answer is to be kept from the model. */
  readonly sensitive?: boolean;
  /** Why it is asked; `trigger` is a short word such as `agent` or `credential_required`. */
  readonly context?: Readonly<Partial<NonNullable<AskInput['context']>>>;
  /** Gets a signed POST when the question ends (docs/webhooks.md): https. */
  readonly webhookUrl?: string;
  /** 1 to 604800. @default 600 */
  readonly timeoutSeconds?: number;
}

/** Asks for the fields of a form. */
export interface FormQuestion extends QuestionBase {
  readonly mode: 'form';
  readonly requestedSchema: FormSchemaInput;
  /** What the asker goes on with when the person's client cannot show the question. It is never an answer. */
  readonly onUnavailable?: {
    readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  };
}

/** Asks the person to open a page. */
export interface UrlQuestion extends QuestionBase {
  readonly mode: 'url';
  readonly url: string;
  /** `client`: accepting finishes it. `server`: it waits for `complete`. @default 'client' */
  readonly completion?: Completion;
}

export type Question = FormQuestion | UrlQuestion;

/** The content that an accepted answer to this question holds; a url question has none. */
export type AnswerTo<Asked> = Asked extends { readonly mode: 'form'; readonly requestedSchema: infer Schema }
  ? ContentOf<Schema>
  : undefined;
