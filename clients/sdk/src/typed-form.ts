import type { FormContent } from '@parley/shared/domain/forms/answer';
import type { FormSchema } from '@parley/shared/domain/forms/schema';

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

type Flat<T> = { [Key in keyof T]: T[Key] };

/** What a form asks for: a flat JSON Schema object of string, number, integer, boolean and select fields. */
export type FormSchemaInput = ReadonlyDeep<FormSchema>;

/** What one field of an answer holds. */
type ValueOf<Field> = Field extends { readonly type: 'number' | 'integer' }
  ? number
  : Field extends { readonly type: 'boolean' }
    ? boolean
    : Field extends { readonly type: 'array'; readonly items: infer Items }
      ? ChoiceOf<Items>[]
      : ChoiceOf<Field>;

/** One of the offered values, or any text when nothing is offered. */
type ChoiceOf<Field> = Field extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Field extends { readonly [Key in 'oneOf' | 'anyOf']?: readonly { readonly const: infer Value }[] }
    ? Value
    : string;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] }
  ? // A list whose names the compiler does not know requires nothing that could be relied on.
    string extends Name
    ? never
    : Name
  : never;

/**
 * The answer to a form, by its schema: a field is there when `required` names it, a select gives its own values. A
 * schema that is not known until run time gives `Record<string, string | number | boolean | string[]>`.
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
