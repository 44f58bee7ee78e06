import type { FormContent } from '@parley/core/domain/forms/answer';
import type { FormSchema } from '@parley/core/domain/forms/schema';

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

type Flat<T> = { [Key in keyof T]: T[Key] };

/** The schema of a form: a flat JSON Schema object with string, number, integer, boolean and select fields. */
export type FormSchemaInput = ReadonlyDeep<FormSchema>;

/** The value of one field. */
type ValueOf<Field> = Field extends { readonly type: 'number' | 'integer' }
  ? number
  : Field extends { readonly type: 'boolean' }
    ? boolean
    : Field extends { readonly type: 'array'; readonly items: infer Items }
      ? ChoiceOf<Items>[]
      : ChoiceOf<Field>;

/** One of the offered values; any string if the field offers none. */
type ChoiceOf<Field> = Field extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Field extends { readonly [Key in 'oneOf' | 'anyOf']?: readonly { readonly const: infer Value }[] }
    ? Value
    : string;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? // If the compiler does not know the names, it cannot know which fields are required.
    string extends Name
    ? never
    : Name
  : never;

/**
 * The content of an answer, derived from the form's schema. Fields in `required` are required, and a select has its own
 * values. A schema that is only known at run time gives `Record<string, string | number | boolean | string[]>`.
 *
 * @example
 * type Answer = ContentOf<{
 *   type: 'object';
 *   properties: { name: { type: 'string' }; color: { type: 'string'; enum: ['red', 'blue'] } };
 *   required: ['name'];
 * }>; // { name: string; color?: 'red' | 'blue' }
 */
export type ContentOf<Schema> = Schema extends { readonly properties: infer Fields }
  ? string extends keyof Fields
    ? FormContent
    : Flat<
        { -readonly [Name in keyof Fields as Extract<Name, RequiredOf<Schema>>]: ValueOf<Fields[Name]> } & {
          -readonly [Name in keyof Fields as Exclude<Name, RequiredOf<Schema>>]?: ValueOf<Fields[Name]>;
        }
      >
  : FormContent;
