import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import type { Completion } from '@parley/core/domain/elicitations/status';
import type { StandardForm } from './standard-form.ts';
import type { ContentOf, FormSchemaInput } from './typed-form.ts';

/** The fields of every question. */
export interface QuestionBase {
  /** The person who is asked, by the user id in their token. */
  readonly userId: string;
  /** The stream request to which the question belongs; created when absent. */
  readonly streamRequestId?: string;
  readonly conversationId?: string;
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  /** True if the answer must be kept from the model. */
  readonly sensitive?: boolean;
  /** How much harm a wrong answer can do. Inboxes list the highest risk first. */
  readonly risk?: AskInput['risk'];
  /** Why the question is asked; `trigger` is a short code such as `agent` or `credential_required`. */
  readonly context?: Readonly<Partial<NonNullable<AskInput['context']>>>;
  /**
   * Up to ten short labels by which operators find the question. They are not protected like content, so put nothing personal
   * there.
   */
  readonly tags?: readonly string[];
  /** An https URL that receives a signed POST when the question ends (docs/webhooks.md). */
  readonly webhookUrl?: string;
  /** 1 to 604800. @default 600 */
  readonly timeoutSeconds?: number;
}

/** Asks for the fields of a form. */
export interface FormQuestion extends QuestionBase {
  readonly mode: 'form';
  /** A JSON Schema, or a schema object that can describe itself as one, for example of zod 4.2. */
  readonly requestedSchema: FormSchemaInput | StandardForm;
  readonly url?: never;
  readonly completion?: never;
  /** The asker's own default, for a client that cannot show the question. It is never an answer. */
  readonly onUnavailable?: {
    readonly content: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  };
}

/** Asks the person to open a page. */
export interface UrlQuestion extends QuestionBase {
  readonly mode: 'url';
  readonly url: string;
  /** `client`: accepting settles the question. `server`: the question waits for `complete`. @default 'client' */
  readonly completion?: Completion;
  readonly requestedSchema?: never;
  readonly onUnavailable?: never;
}

export type Question = FormQuestion | UrlQuestion;

type KeyOfQuestion = keyof FormQuestion | keyof UrlQuestion;

/** Rejects keys and keywords that the server would refuse. */
export type Exact<Asked> = { readonly [Key in Exclude<keyof Asked, KeyOfQuestion>]: never } & (Asked extends {
  readonly requestedSchema: { readonly properties: infer Fields };
}
  ? { readonly requestedSchema: { readonly properties: { readonly [Name in keyof Fields]: NoPattern } } }
  : unknown);

/** Parley refuses patterns, because a server must not run untrusted regular expressions. */
interface NoPattern {
  readonly pattern?: never;
}

/** The content of an accepted answer to this question. A url question has none. */
export type AnswerTo<Asked> = Asked extends { readonly mode: 'form'; readonly requestedSchema: infer Schema }
  ? Schema extends StandardForm<infer Output>
    ? Output
    : ContentOf<Schema>
  : undefined;
