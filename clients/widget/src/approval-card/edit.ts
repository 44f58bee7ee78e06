/** Makes a form of the arguments of a call, and arguments of the form. The form itself is rendered by `form/view.ts`. */

import { pointerOf } from '@parley/core/domain/approvals/json-pointer';
import { ANSWER_TEXT_MAX } from '@parley/core/domain/forms/value';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { readable } from '@parley/core/domain/readable';
import { lengthOf } from '@parley/core/domain/text';
import type { Approval } from '../approval.ts';
import type { FieldError } from '../server/refusal.ts';

type Json = Readonly<Record<string, unknown>>;
type Kind = 'text' | 'choice' | 'number' | 'integer' | 'boolean' | 'json';

/** The arguments of a call as a form. */
export interface EditForm {
  /** The schema for the form view, with one field for each editable argument. */
  readonly schema: Json;
  /** The names of arguments that cannot be edited: secrets, and texts that a field cannot show in full. */
  readonly kept: readonly string[];
  /** Returns all arguments of the call with the content of the form, or the faults of the content. */
  read(
    content: Json,
    badJson: string,
  ): { readonly arguments: Json } | { readonly errors: readonly FieldError[] };
  /** Assigns the server's errors to fields. */
  placed(errors: readonly FieldError[]): readonly FieldError[];
}

interface EditField {
  readonly name: string;
  readonly kind: Kind;
  readonly isRequired: boolean;
  readonly schema: Json;
}

const DESCRIPTION_MAX = 500;

/**
 * Makes a form of a call's arguments, from their values and the tool's schema. Nested arguments are edited as JSON. The server
 * checks the result against the schema; the form refuses only values of the wrong type.
 */
export function createEditForm({ arguments: given, inputSchema = {}, masked = [] }: Approval): EditForm {
  const properties = own(inputSchema, 'properties');
  const schemas = isRecord(properties) ? properties : {};
  const required = own(inputSchema, 'required');
  const names = [...new Set([...Object.keys(given), ...Object.keys(schemas)])];
  const fields: EditField[] = [];
  const kept: string[] = [];
  for (const name of names) {
    const schema = own(schemas, name);
    const isRequired = Array.isArray(required) && required.includes(name);
    const field = fieldOf(name, own(given, name), isRecord(schema) ? schema : {}, isRequired);
    const isMasked = masked.includes(pointerOf([name]));
    if (field !== undefined && !isMasked) fields.push(field);
    else if (Object.hasOwn(given, name)) kept.push(name);
  }
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
      // Texts are not required, because an empty text is a text; a missing yes or no has its own choice.
      required: fields
        .filter(({ kind, isRequired }) => isRequired && kind !== 'text' && kind !== 'boolean')
        .map(({ name }) => name),
    },
    kept,
    read: (content, badJson) => argumentsOf(given, fields, content, badJson),
    placed: (errors) => errors.map((error) => placed(error, fields)),
  };
}

function fieldOf(name: string, value: unknown, schema: Json, isRequired: boolean): EditField | undefined {
  const kind = kindOf(value, schema);
  if (value === undefined && (schema.format === 'password' || schema.writeOnly === true)) return undefined;
  const preset = kind === 'json' && value !== undefined ? JSON.stringify(value, null, 2) : value;
  // A field would cut a longer text, and would show invisible characters as something else.
  if (typeof preset === 'string' && (lengthOf(preset) > ANSWER_TEXT_MAX || readable(preset) !== preset))
    return undefined;
  const { description } = schema;
  const common = {
    title: name,
    ...(typeof description === 'string' && { description: description.slice(0, DESCRIPTION_MAX) }),
    ...(preset !== undefined && { default: preset }),
  };
  const choices = kind === 'text' ? choicesIn(schema, value) : undefined;
  if (choices !== undefined)
    return { name, kind: 'choice', isRequired, schema: { type: 'string', enum: choices, ...common } };
  if (kind === 'json' || kind === 'text') {
    // A text that is longer than a line gets a field with several lines.
    const isLong = kind === 'json' || lengthOf(String(preset ?? '')) > 80;
    const maxLength = isLong ? { maxLength: ANSWER_TEXT_MAX } : {};
    return { name, kind, isRequired, schema: { type: 'string', ...common, ...maxLength } };
  }
  const limits = ['minimum', 'maximum'].flatMap((key) =>
    typeof schema[key] === 'number' ? [[key, schema[key]]] : [],
  );
  return { name, kind, isRequired, schema: { type: kind, ...common, ...Object.fromEntries(limits) } };
}

function kindOf(value: unknown, { type }: Json): Kind {
  if (typeof value === 'string' || (value === undefined && type === 'string')) return 'text';
  if (typeof value === 'boolean' || (value === undefined && type === 'boolean')) return 'boolean';
  if (typeof value === 'number' || (value === undefined && (type === 'number' || type === 'integer')))
    return type === 'integer' ? 'integer' : 'number';
  return 'json';
}

/** The values that the schema allows, if the present value is one of them. */
function choicesIn({ enum: choices }: Json, value: unknown): readonly string[] | undefined {
  if (!Array.isArray(choices) || !choices.every((choice) => typeof choice === 'string')) return undefined;
  return value === undefined || choices.includes(value as string) ? choices : undefined;
}

function argumentsOf(given: Json, fields: readonly EditField[], content: Json, badJson: string) {
  const errors: FieldError[] = [];
  const edited = new Map(Object.entries(given));
  for (const { name, kind, isRequired } of fields) {
    const value = own(content, name);
    if (value === undefined) {
      const isText = kind === 'text' && (isRequired || own(given, name) === '');
      if (isText) edited.set(name, '');
      else edited.delete(name);
      continue;
    }
    try {
      edited.set(name, kind === 'json' ? JSON.parse(String(value)) : value);
    } catch {
      errors.push({ path: name, message: badJson });
    }
  }
  // Object.fromEntries creates an own property for any name, even `__proto__`, unlike assignment.
  return errors.length > 0 ? { errors } : { arguments: Object.fromEntries(edited) };
}

/** An error at `arguments.place.city` belongs to the field `place`, and one at `arguments` to no field. */
function placed({ path: given, message }: FieldError, fields: readonly EditField[]): FieldError {
  const path = given.replace(/^arguments(\.|$)/, '');
  const field = fields.find(({ name }) => path === name || path.startsWith(`${name}.`));
  if (field === undefined) return { path, message };
  const inner = path.slice(field.name.length + 1);
  return { path: field.name, message: inner === '' ? message : `${inner}: ${message}` };
}
