import { type Choice, choicesOf } from '@parley/shared/domain/forms/choices';
import { TEXT_FORMATS } from '@parley/shared/domain/forms/formats';
import type { FormField } from '@parley/shared/domain/forms/value';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import { localOf } from './local-time.ts';

/**
 * The value of a control, as the person entered it:
 * text, email, uri, number, integer: the text as typed · date: `2026-03-01` · date-time: local, `2026-03-01T09:30`
 * · boolean: true or false · select: the chosen value, which may be '' · multi: the chosen values.
 * `undefined` is no value (an untouched boolean, no choice); for text controls '' means the same.
 */
export type Draft = string | boolean | readonly string[] | undefined;

interface Common {
  /** The property's name. It may be `__proto__`. Use it as a key of Maps, never of plain objects. */
  readonly name: string;
  /** The title, or else the name. Plain text. */
  readonly label: string;
  readonly description: string | undefined;
  readonly required: boolean;
  /** The control's first value, from `default`. */
  readonly initial: Draft;
  readonly schema: FormField;
}
/** Lengths are in code points: HTML's `maxlength` counts UTF-16 units, so it must not be used. */
export interface TextLike extends Common {
  readonly kind: 'text' | 'email' | 'uri' | 'date' | 'date-time';
  readonly minLength?: number;
  readonly maxLength?: number;
}
/** Shown as a text input: `type="number"` hides text that it cannot parse, such as 1,5. */
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

/** A yes or no that the person has to choose: an untouched checkbox would be no answer. */
export function isChoiceOfTwo({ kind, required, initial }: Field): boolean {
  return kind === 'boolean' && required && initial === undefined;
}

/**
 * The fields of a `requestedSchema`, in its order. Accepts any value; an unreadable field is omitted, so that the person
 * sees the server's error about it.
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
    description: schema.description || undefined,
    required,
    initial: initialOf(schema),
    schema,
  };
  switch (schema.type) {
    case 'boolean':
      return { ...common, kind: 'boolean' };
    case 'array':
      return { ...schema, ...common, kind: 'multi', choices: choicesOf(schema.items) };
    case 'string':
      return 'enum' in schema || 'oneOf' in schema
        ? { ...common, kind: 'select', choices: choicesOf(schema) }
        : { ...schema, ...common, kind: schema.format ?? 'text' };
    default:
      return { ...schema, ...common, kind: schema.type };
  }
}

function initialOf(schema: FormField): Draft {
  const preset = schema.default;
  if (typeof preset === 'number') return String(preset);
  const isTime = schema.type === 'string' && 'format' in schema && schema.format === 'date-time';
  return isTime && typeof preset === 'string' ? localOf(preset) : preset;
}

/** Whether a field has everything that its control needs. The server has checked the rest. */
function isField(raw: unknown): raw is FormField {
  if (!isRecord(raw)) return false;
  const { type, title = '', description = '', default: preset = '', format } = raw;
  if (!isTexts([title, description]) || !(isTexts(preset) || SCALARS.includes(typeof preset))) return false;
  if (type === 'boolean' || type === 'number' || type === 'integer') return true;
  const offered = type === 'array' ? raw.items : raw;
  if (!isRecord(offered) || (type !== 'array' && type !== 'string')) return false;
  if ('enum' in offered) return isTexts(offered.enum) && isTexts(offered.enumNames ?? []);
  if (type === 'array') return isOptions(offered.anyOf);
  if ('oneOf' in offered) return isOptions(offered.oneOf);
  return format === undefined || (TEXT_FORMATS as unknown[]).includes(format);
}

const SCALARS = ['string', 'number', 'boolean'];

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function isOptions(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => isRecord(one) && isTexts([one.const, one.title]));
}

/** An answered value as the person chose it. */
export function describeValue(
  field: Field,
  value: unknown,
  { yes, no }: { readonly yes: string; readonly no: string },
): string {
  if (typeof value === 'boolean') return value ? yes : no;
  const choices = 'choices' in field ? field.choices : [];
  return [value]
    .flat()
    .map((one) => choices.find((choice) => choice.value === one)?.label ?? String(one))
    .join(', ');
}
