import { TEXT_FORMATS } from '@parley/shared/domain/form-formats';
import type { FormField, FormOption, MultiSelectField } from '@parley/shared/domain/form-value';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import { localOf } from './local-time.ts';

/**
 * What a control holds, as the person left it:
 * text, email, uri, number, integer: the text as typed · date: `2026-03-01` · date-time: local, `2026-03-01T09:30`
 * · boolean: true or false · select: the chosen value, which may be '' · multi: the chosen values.
 * `undefined` is nothing at all (a boolean never touched, no choice made); for text controls '' is the same.
 */
export type Draft = string | boolean | readonly string[] | undefined;

/** Something to choose: `value` is answered, `label` is shown. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface Common {
  /** The property's name, any text, `__proto__` included: a key for Maps, never for plain objects. */
  readonly name: string;
  /** The title, or else the name. Plain text. */
  readonly label: string;
  readonly description?: string;
  readonly required: boolean;
  /** The control's first value, from `default`. */
  readonly initial: Draft;
  readonly schema: FormField;
}
/** Lengths are in code points: HTML's `maxlength` counts otherwise, so it must not be used. */
export interface TextLike extends Common {
  readonly kind: 'text' | 'email' | 'uri' | 'date' | 'date-time';
  readonly minLength?: number;
  readonly maxLength?: number;
}
/** Show it as `type="text" inputmode="decimal"`: `type="number"` hides what it cannot read, such as 1,5. */
export interface NumberLike extends Common {
  readonly kind: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
}
export interface YesNo extends Common {
  readonly kind: 'boolean';
}
export interface Select extends Common {
  readonly kind: 'select';
  readonly choices: readonly Choice[];
}
export interface MultiSelect extends Common {
  readonly kind: 'multi';
  readonly choices: readonly Choice[];
  readonly minItems?: number;
  readonly maxItems?: number;
}
/** One control of a form. */
export type Field = TextLike | NumberLike | YesNo | Select | MultiSelect;

/**
 * The controls for a `requestedSchema`, in its order. Takes anything; a field it cannot read is left out, so that
 * the server's verdict on it is what the person gets to see.
 */
export function fieldsOf(requestedSchema: unknown): Field[] {
  const properties = isRecord(requestedSchema) ? own(requestedSchema, 'properties') : undefined;
  if (!isRecord(requestedSchema) || !isRecord(properties)) return [];
  const required = own(requestedSchema, 'required');
  return Object.entries(properties).flatMap(([name, raw]) => {
    if (!isField(raw)) return [];
    return [fieldOf(name, raw, Array.isArray(required) && required.includes(name))];
  });
}

function fieldOf(name: string, schema: FormField, required: boolean): Field {
  const common = {
    name,
    label: schema.title || name,
    ...(schema.description && { description: schema.description }),
    required,
    initial: initialOf(schema, required),
    schema,
  };
  switch (schema.type) {
    case 'boolean':
      return { ...common, kind: 'boolean' };
    case 'array':
      return {
        ...common,
        ...limits(schema, 'minItems', 'maxItems'),
        kind: 'multi',
        choices: offered(schema),
      };
    case 'string': {
      if ('enum' in schema || 'oneOf' in schema) {
        return { ...common, kind: 'select', choices: choicesOf(schema) };
      }
      return { ...common, ...limits(schema, 'minLength', 'maxLength'), kind: schema.format ?? 'text' };
    }
    default:
      return { ...common, ...limits(schema, 'minimum', 'maximum'), kind: schema.type };
  }
}

/** A box of a required yes-or-no that is left alone says no; an optional one says nothing. */
function initialOf(schema: FormField, required: boolean): Draft {
  const preset = schema.default;
  if (preset === undefined) return schema.type === 'boolean' && required ? false : undefined;
  if (typeof preset === 'number') return String(preset);
  const isTime = schema.type === 'string' && 'format' in schema && schema.format === 'date-time';
  return isTime && typeof preset === 'string' ? localOf(preset) : preset;
}

function limits<Key extends string>(
  schema: { readonly [key in Key]?: number },
  ...keys: Key[]
): { [key in Key]?: number } {
  const set = keys.filter((key) => typeof schema[key] === 'number').map((key) => [key, schema[key]]);
  return Object.fromEntries(set);
}

function choicesOf(schema: { enum: string[]; enumNames?: string[] } | { oneOf: FormOption[] }): Choice[] {
  if ('oneOf' in schema) return schema.oneOf.map(titled);
  return schema.enum.map((value, at) => ({ value, label: schema.enumNames?.[at] || value }));
}

function offered({ items }: MultiSelectField): Choice[] {
  return 'enum' in items ? choicesOf(items) : items.anyOf.map(titled);
}

function titled({ const: value, title }: FormOption): Choice {
  return { value, label: title || value };
}

/** Whether a field has the parts its control needs. The server has checked the rest. */
function isField(raw: unknown): raw is FormField {
  if (!isRecord(raw)) return false;
  if (![raw.title, raw.description].every((text) => text === undefined || typeof text === 'string'))
    return false;
  if ('default' in raw && !isAnswer(raw.default)) return false;
  switch (raw.type) {
    case 'boolean':
    case 'number':
    case 'integer':
      return true;
    case 'string':
      if ('format' in raw && !(TEXT_FORMATS as unknown[]).includes(raw.format)) return false;
      if ('enum' in raw) return isTexts(raw.enum) && (!('enumNames' in raw) || isTexts(raw.enumNames));
      return !('oneOf' in raw) || isOptions(raw.oneOf);
    case 'array': {
      const { items } = raw;
      return isRecord(items) && ('enum' in items ? isTexts(items.enum) : isOptions(items.anyOf));
    }
    default:
      return false;
  }
}

function isAnswer(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) || isTexts(value);
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function isOptions(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((entry) => isRecord(entry) && isTexts([entry.const, entry.title]))
  );
}
