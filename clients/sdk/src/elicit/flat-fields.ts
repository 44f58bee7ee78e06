/**
 * Maps the fields of an ask to a flat schema and back, including "other" choices, which no schema has. The pages of an ask are
 * made in `pages.ts`.
 */

import { fitsFormat } from '@parley/core/domain/forms/formats';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { FormField } from '@parley/core/domain/forms/value';
import type { AskField, ChoiceOption, FieldValue, OptionalField } from './asks.ts';

/** The choice for a text of the person's own, and the suffix of the field that takes the text. */
const OTHER = '__other__';
const OTHER_FIELD = '_other';

export interface AnswerFault {
  readonly path: string;
  readonly message: string;
}

/** The fields of a flat schema, and how to read their content. */
export interface FlatFields {
  readonly properties: Record<string, FormField>;
  readonly required: string[];
  /** The answers in the asker's terms, or their faults by rules that the schema does not have. */
  read(content: Readonly<Record<string, unknown>>): {
    readonly values: Record<string, FieldValue>;
    readonly faults: readonly AnswerFault[];
  };
}

/** Maps fields to a flat schema. "Other" becomes an additional choice, and an optional text field beside it. */
export function flatFieldsOf(fields: Readonly<Record<string, OptionalField>>): FlatFields {
  const properties: Record<string, FormField> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    properties[name] = flatFieldOf(field);
    if (field.optional !== true) required.push(name);
    if (hasOther(field))
      properties[`${name}${OTHER_FIELD}`] = { type: 'string', title: `${field.title ?? name}: other` };
  }
  return {
    properties,
    required,
    read(content) {
      const values: Record<string, FieldValue> = {};
      const faults: AnswerFault[] = [];
      for (const [name, field] of Object.entries(fields)) {
        const value = content[name] as FieldValue | undefined;
        if (value === undefined) continue;
        const read = hasOther(field) ? withOther(name, field, value, content) : { value };
        const fault = 'fault' in read ? read.fault : faultOfField(name, field, read.value);
        if (fault !== undefined) faults.push(fault);
        else if ('value' in read) values[name] = read.value;
      }
      return { values, faults };
    },
  };
}

/** True for the text field of an "other" that was not chosen. A handler that asks for one field after another skips it. */
export function isSkippedOther(
  { properties }: Pick<FormSchema, 'properties'>,
  name: string,
  content: Readonly<Record<string, unknown>>,
): boolean {
  if (!name.endsWith(OTHER_FIELD)) return false;
  const choice = name.slice(0, -OTHER_FIELD.length);
  if (!Object.hasOwn(properties, choice) || !JSON.stringify(properties[choice]).includes(OTHER)) return false;
  return ![content[choice]].flat().includes(OTHER);
}

function hasOther(field: AskField): boolean {
  return (field.kind === 'choice' || field.kind === 'multi_choice') && field.other === true;
}

function withOther(
  name: string,
  field: AskField,
  value: FieldValue,
  content: Readonly<Record<string, unknown>>,
): { readonly value: FieldValue } | { readonly fault: AnswerFault } {
  const chosen = typeof value === 'string' ? [value] : (value as readonly string[]);
  if (!chosen.includes(OTHER)) return { value };
  const path = `${name}${OTHER_FIELD}`;
  const text = content[path];
  if (typeof text !== 'string' || text.trim() === '') {
    return { fault: { path, message: 'is required, because "Other" is chosen' } };
  }
  return { value: field.kind === 'choice' ? text : chosen.map((one) => (one === OTHER ? text : one)) };
}

/** The fault of a value by the rules that a flat schema cannot express. */
function faultOfField(name: string, field: AskField, value: FieldValue): AnswerFault | undefined {
  if (field.kind !== 'date' || typeof value !== 'string' || !fitsFormat('date', value)) return undefined;
  // Dates in this form sort correctly as text.
  if (field.min !== undefined && value < field.min)
    return { path: name, message: `must be ${field.min} or later` };
  if (field.max !== undefined && value > field.max)
    return { path: name, message: `must be ${field.max} or earlier` };
  return undefined;
}

function flatFieldOf(field: AskField): FormField {
  const texts = {
    ...(field.title !== undefined && { title: field.title }),
    ...(field.description !== undefined && { description: field.description }),
  };
  switch (field.kind) {
    case 'text':
      return {
        type: 'string',
        ...texts,
        ...defined({ minLength: field.minLength, maxLength: field.maxLength, format: field.format }),
        ...defined({ default: field.default }),
      };
    case 'choice':
      return { type: 'string', ...texts, oneOf: choicesOf(field), ...defined({ default: field.default }) };
    case 'multi_choice':
      return {
        type: 'array',
        ...texts,
        items: { anyOf: choicesOf(field) },
        ...defined({ minItems: field.min, maxItems: field.max }),
        ...(field.default !== undefined && { default: [...field.default] }),
      };
    case 'number': {
      const bounds = defined({ minimum: field.min, maximum: field.max, default: field.default });
      return { type: field.integer === true ? 'integer' : 'number', ...texts, ...bounds };
    }
    case 'date':
      return { type: 'string', format: 'date', ...texts, ...defined({ default: field.default }) };
    case 'confirmation':
      return { type: 'boolean', ...texts, ...defined({ default: field.default }) };
  }
}

function choicesOf(field: { readonly options: readonly ChoiceOption[]; readonly other?: boolean }) {
  const options = field.options.map((option) =>
    typeof option === 'string'
      ? { const: option, title: option }
      : { const: option.value, title: option.title ?? option.value },
  );
  return field.other === true ? [...options, { const: OTHER, title: 'Other' }] : options;
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
