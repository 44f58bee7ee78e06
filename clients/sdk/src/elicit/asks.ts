/**
 * The kinds of questions that an elicitor can ask, as types for callers. How a kind is mapped to a form is in `pages.ts` and
 * `flat-fields.ts`.
 */

import type { StandardForm } from '../standard-form.ts';
import type { ContentOf, FormSchemaInput } from '../typed-form.ts';

/** One choice: its value in the answer, and the text that the person reads. A string is both. */
export type ChoiceOption = string | { readonly value: string; readonly title?: string };

interface FieldTexts {
  /** Shown above the field in a form. A field that is a question of its own has the message instead. */
  readonly title?: string;
  readonly description?: string;
}

export interface TextField extends FieldTexts {
  readonly kind: 'text';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: 'email' | 'uri' | 'date-time';
  readonly default?: string;
}

export interface ChoiceField extends FieldTexts {
  readonly kind: 'choice';
  readonly options: readonly ChoiceOption[];
  /** True lets the person write something else; the answer is then that text. */
  readonly other?: boolean;
  readonly default?: string;
}

export interface MultiChoiceField extends FieldTexts {
  readonly kind: 'multi_choice';
  readonly options: readonly ChoiceOption[];
  /** The minimum and the maximum number of choices; `other` counts as one. */
  readonly min?: number;
  readonly max?: number;
  readonly other?: boolean;
  readonly default?: readonly string[];
}

export interface NumberField extends FieldTexts {
  readonly kind: 'number';
  readonly min?: number;
  readonly max?: number;
  /** True accepts only whole numbers. */
  readonly integer?: boolean;
  readonly default?: number;
}

export interface DateField extends FieldTexts {
  readonly kind: 'date';
  /** The first and the last accepted day, as `YYYY-MM-DD`. */
  readonly min?: string;
  readonly max?: string;
  readonly default?: string;
}

export interface ConfirmationField extends FieldTexts {
  readonly kind: 'confirmation';
  readonly default?: boolean;
}

/** A field of a form, or a question on its own. */
export type AskField =
  | TextField
  | ChoiceField
  | MultiChoiceField
  | NumberField
  | DateField
  | ConfirmationField;

/** A field of a form that may stay empty. */
export type OptionalField = AskField & { readonly optional?: boolean };

/** The properties of every ask. */
export interface AskBase {
  /** The text that the person reads. */
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  /** 1 to 604800, counted from the call of `ask`; waiting in a queue counts too. @default the elicitor's time-out */
  readonly timeoutSeconds?: number;
  /** True if the answer must be kept from models. */
  readonly sensitive?: boolean;
  /** The value with which the asker continues when nobody can be asked. It is never an answer: the outcome is `defaulted`. */
  readonly fallback?: unknown;
}

/** A step of a form. */
export interface FormStep {
  readonly title?: string;
  readonly message?: string;
  readonly fields: Readonly<Record<string, OptionalField>>;
  /** The step is skipped if this returns false. It gets the answers of the earlier steps. */
  readonly when?: (answers: Readonly<Record<string, FieldValue>>) => boolean;
}

export type FieldValue = string | number | boolean | readonly string[];

/** Several fields, in one or several steps. Give one of `fields`, `steps` and `schema`. */
export type FormAsk<Schema = FormSchemaInput | StandardForm> = AskBase & { readonly kind: 'form' } & (
    | {
        readonly fields: Readonly<Record<string, OptionalField>>;
        readonly steps?: never;
        readonly schema?: never;
      }
    | { readonly steps: readonly FormStep[]; readonly fields?: never; readonly schema?: never }
    | { readonly schema: Schema; readonly fields?: never; readonly steps?: never }
  );

/** Asks for a password, key or token. No protocol may carry it in a form, so only some handlers can ask for it. */
export interface SecretAsk extends AskBase {
  readonly kind: 'secret';
  /** The name under which a keyring may store the secret. */
  readonly name?: string;
}

/** Asks the person to open a page. Agreeing to that is the answer. */
export interface UrlAsk extends AskBase {
  readonly kind: 'url';
  readonly url: string;
}

/** Asks whether an action may be carried out. */
export interface ApprovalAsk extends AskBase {
  readonly kind: 'approval';
  /** The action in a few words, such as `Delete 14 files`. */
  readonly action: string;
  /** What the person should know about the action, in order. */
  readonly details?: Readonly<Record<string, string>>;
}

/** A question to a person. */
export type Ask = (AskBase & AskField) | FormAsk | SecretAsk | UrlAsk | ApprovalAsk;

/** The answer of an approval. Only `approved` is consent. */
export interface ApprovalAnswer {
  readonly decision: 'approved' | 'denied';
  readonly reason?: string;
}

/** A wrapped secret. Logs, JSON and templates do not show it. */
export interface SecretAnswer {
  /** Returns the secret. Pass it only to the tool that needs it. */
  reveal(): string;
  toString(): string;
  toJSON(): string;
}

type OptionValue<Options> = Options extends readonly (infer Option)[]
  ? Option extends { readonly value: infer Value }
    ? Value
    : Option
  : string;

type ChoiceValue<Field> = Field extends { readonly other: true }
  ? string
  : Field extends { readonly options: infer Options }
    ? OptionValue<Options>
    : string;

type FieldAnswer<Field> = Field extends { readonly kind: 'number' }
  ? number
  : Field extends { readonly kind: 'confirmation' }
    ? boolean
    : Field extends { readonly kind: 'multi_choice' }
      ? readonly ChoiceValue<Field>[]
      : Field extends { readonly kind: 'choice' }
        ? ChoiceValue<Field>
        : string;

type FieldsAnswer<Fields> = {
  readonly [Name in keyof Fields as Fields[Name] extends { readonly optional: true }
    ? never
    : Name]: FieldAnswer<Fields[Name]>;
} & {
  readonly [Name in keyof Fields as Fields[Name] extends { readonly optional: true }
    ? Name
    : never]?: FieldAnswer<Fields[Name]>;
};

type FormAnswer<Form> = Form extends { readonly schema: infer Schema }
  ? Schema extends StandardForm<infer Output>
    ? Output
    : ContentOf<Schema>
  : Form extends { readonly fields: infer Fields }
    ? FieldsAnswer<Fields>
    : Readonly<Record<string, FieldValue>>;

/** The type of an ask's answer. */
export type AnswerOf<Asked> = Asked extends { readonly kind: 'form' }
  ? FormAnswer<Asked>
  : Asked extends { readonly kind: 'secret' }
    ? SecretAnswer
    : Asked extends { readonly kind: 'url' }
      ? undefined
      : Asked extends { readonly kind: 'approval' }
        ? ApprovalAnswer
        : FieldAnswer<Asked>;
