/**
 * The types of form fields and values, and the check of one value. Schemas are read in `field.ts`, and whole answers are
 * checked in `answer.ts`.
 */

import { lengthOf } from '../text.ts';
import type { Fault } from './fault.ts';
import { fitsFormat, type TextFormat } from './formats.ts';

/** The longest text in an answer, in code points, whatever `maxLength` says. */
export const ANSWER_TEXT_MAX = 10_000;

type Labels = { title?: string; description?: string };

/** One choice. `const` is its value in answers; people see `title`. */
export type FormOption = { const: string; title: string };

export type TextField = Labels & {
  type: 'string';
  minLength?: number;
  maxLength?: number;
  format?: TextFormat;
  /** A regular expression that some part of the text must match (RE2 syntax). */
  pattern?: string;
  default?: string;
};
export type NumberField = Labels & {
  type: 'number' | 'integer';
  minimum?: number;
  maximum?: number;
  /** The value must be a multiple of this. Only for adapters of protocols that allow it. */
  multipleOf?: number;
  default?: number;
};
type BooleanField = Labels & { type: 'boolean'; default?: boolean };
/** A single select without titles, or with the legacy `enumNames`, which has one title for each value. */
export type SelectField = Labels & { type: 'string'; enum: string[]; enumNames?: string[]; default?: string };
type TitledSelectField = Labels & { type: 'string'; oneOf: FormOption[]; default?: string };
export type MultiSelectField = Labels & {
  type: 'array';
  items: { type: 'string'; enum: string[] } | { anyOf: FormOption[] };
  minItems?: number;
  maxItems?: number;
  default?: string[];
};

/** A list of choices: a select, or the items of a multi select. */
export type Offering =
  | { readonly enum: readonly string[]; readonly enumNames?: readonly string[] }
  | { readonly oneOf: readonly FormOption[] }
  | { readonly anyOf: readonly FormOption[] };

/** One field of a form: a primitive or a select of MCP elicitation (2025-11-25 and 2026-07-28). */
export type FormField =
  | TextField
  | NumberField
  | BooleanField
  | SelectField
  | TitledSelectField
  | MultiSelectField;

/** The value of one field of an answer. */
export type FormValue = string | number | boolean | string[];

type ValueCheck = { ok: true; value: FormValue } | { ok: false; fault: Fault };

/** Checks a value against a field of a checked schema. Does not coerce, except that -0 becomes 0. Copies lists. */
export function checkValue(field: FormField, value: unknown): ValueCheck {
  switch (field.type) {
    case 'string':
      return checkString(field, value);
    case 'boolean':
      return typeof value === 'boolean' ? { ok: true, value } : refuse({ rule: 'boolean' });
    case 'array':
      return checkChoices(field, value);
    default:
      return checkNumber(field, value);
  }
}

/** The values that a select offers, or the items of a multi select. */
export function valuesOf(offering: Offering): readonly string[] {
  return 'enum' in offering ? offering.enum : optionsOf(offering).map((option) => option.const);
}

/** The titled choices that are offered. */
export function optionsOf(offering: Exclude<Offering, { readonly enum: unknown }>): readonly FormOption[] {
  return 'oneOf' in offering ? offering.oneOf : offering.anyOf;
}

function refuse(fault: Fault): ValueCheck {
  return { ok: false, fault };
}

function checkString(field: TextField | SelectField | TitledSelectField, value: unknown): ValueCheck {
  if (typeof value !== 'string') return refuse({ rule: 'string' });
  const fault = faultOfString(field, value);
  return fault === undefined ? { ok: true, value } : refuse(fault);
}

function faultOfString(field: TextField | SelectField | TitledSelectField, value: string): Fault | undefined {
  if (!('enum' in field || 'oneOf' in field)) return faultOfText(field, value);
  return valuesOf(field).includes(value) ? undefined : { rule: 'choice' };
}

function faultOfText({ minLength = 0, maxLength, format }: TextField, value: string): Fault | undefined {
  const most = Math.min(maxLength ?? ANSWER_TEXT_MAX, ANSWER_TEXT_MAX);
  // A code point has at most two code units, so the code points of a huge text need not be counted.
  const length = value.length > 2 * most ? value.length : lengthOf(value);
  if (length > most) return { rule: 'maxLength', limit: most };
  if (length < minLength) return { rule: 'minLength', limit: minLength };
  if (/\p{Surrogate}/u.test(value)) return { rule: 'unicode' };
  if (value.includes('\0')) return { rule: 'nul' };
  return format === undefined || fitsFormat(format, value) ? undefined : { rule: 'format', format };
}

function checkNumber({ type, minimum, maximum }: NumberField, value: unknown): ValueCheck {
  if (typeof value !== 'number' || !Number.isFinite(value)) return refuse({ rule: 'number' });
  const whole = Number.isInteger(value);
  if (type === 'integer' && !whole) return refuse({ rule: 'integer' });
  if (whole && !Number.isSafeInteger(value)) return refuse({ rule: 'safe' });
  if (minimum !== undefined && value < minimum) return refuse({ rule: 'minimum', limit: minimum });
  if (maximum !== undefined && value > maximum) return refuse({ rule: 'maximum', limit: maximum });
  return { ok: true, value: value === 0 ? 0 : value };
}

function checkChoices({ items, minItems = 0, maxItems }: MultiSelectField, value: unknown): ValueCheck {
  if (!Array.isArray(value)) return refuse({ rule: 'list' });
  const offered = valuesOf(items);
  const most = Math.min(maxItems ?? offered.length, offered.length);
  // The length is checked before the entries, so that a huge list is refused quickly.
  if (value.length > most) return refuse({ rule: 'maxItems', limit: most });
  if (value.length < minItems) return refuse({ rule: 'minItems', limit: minItems });
  const chosen = new Set<string>();
  for (const choice of value as unknown[]) {
    if (typeof choice !== 'string' || !offered.includes(choice)) return refuse({ rule: 'offered' });
    if (chosen.has(choice)) return refuse({ rule: 'once' });
    chosen.add(choice);
  }
  return { ok: true, value: [...chosen] };
}
