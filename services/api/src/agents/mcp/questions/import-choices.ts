/**
 * Rewrites the choices in a server's schema to the notation of forms. The rest of a field is rewritten in `import-field.ts`.
 */

import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { DEFAULT_FORM_CAPS } from '@parley/core/domain/forms/bounds';
import { TEXT_FORMATS } from '@parley/core/domain/forms/formats';
import { checkFormSchema } from '@parley/core/domain/forms/schema';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { withFormNumbers } from './import-numbers.ts';
import { BOUNDS, CHOICES, CONDITIONS, LENGTHS, LIMITS, pick, type RawSchema } from './parts.ts';
import type { FieldRestore } from './restores.ts';

interface ImportedChoice {
  readonly value: string | number | boolean;
  readonly title?: unknown;
}

/** The choices that a schema offers. */
interface ImportedChoices {
  /** How the choices are written: plain values, values with a separate list of names (`enumNames`), or values with titles. */
  readonly spelling: 'values' | 'named' | 'titled';
  readonly choices: readonly ImportedChoice[];
}

/**
 * The choices of a schema that satisfy its type and all its limits. Undefined if the schema has no choices, has choices other
 * than plain values, or has a limit that cannot be checked here. The schema then stays unchanged and is refused later.
 */
export function choicesOf(schema: RawSchema): ImportedChoices | undefined {
  const sources = CHOICES.toReversed()
    .filter((key) => Object.hasOwn(schema, key))
    .map((key) => choicesBy(key, schema));
  const [first, ...others] = sources.filter((source) => source !== undefined);
  const isAllowed = judgeOf(schema);
  if (first === undefined || others.length < sources.length - 1 || isAllowed === undefined) return undefined;
  const offered = others.map(({ choices }) => new Set(choices.map(({ value }) => value)));
  const choices = first.choices.filter(
    ({ value }) => isAllowed(value) && offered.every((values) => values.has(value)),
  );
  return { ...first, choices };
}

/** The form's field for selecting one choice. */
export function selectOf({ spelling, choices }: ImportedChoices): RawSchema {
  if (spelling === 'titled') return { type: 'string', oneOf: titled(choices) };
  const names = spelling === 'named' ? { enumNames: choices.map(({ title }) => title) } : {};
  return { type: 'string', enum: choices.map(({ value }) => String(value)), ...names };
}

/** The items of the form's field for selecting several choices. */
export function itemsOf({ spelling, choices }: ImportedChoices): RawSchema {
  return spelling === 'values'
    ? { type: 'string', enum: choices.map(({ value }) => String(value)) }
    : { anyOf: titled(choices) };
}

/** The values of choices that are not texts, by the text that represents them. */
export function valuesOf({ choices }: ImportedChoices): FieldRestore['values'] {
  const others = choices.flatMap(({ value }) =>
    typeof value === 'string' ? [] : [[String(value), value] as const],
  );
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** Choices with titles. A choice without a title is shown by its value. */
function titled(choices: readonly ImportedChoice[]): readonly unknown[] {
  return choices.map(({ value, title = String(value) }) => ({ const: String(value), title }));
}

/** The choices in one keyword. Undefined if the keyword contains anything else. */
function choicesBy(key: string, schema: RawSchema): ImportedChoices | undefined {
  if (key === 'const') return choicesIn('values', [schema]);
  const list = schema[key];
  if (!Array.isArray(list) || countOf(list) > DEFAULT_FORM_CAPS.options) return undefined;
  if (key !== 'enum') {
    const literals = list.map(literalsOf);
    return literals.includes(undefined) ? undefined : choicesIn('titled', literals.flat());
  }
  const names = own(schema, 'enumNames');
  const hasNames = Array.isArray(names) && names.length === list.length;
  const given = list.map((value: unknown, at) => ({ const: value, title: hasNames ? names[at] : undefined }));
  return choicesIn(hasNames ? 'named' : 'values', given);
}

/** The number of values in a list, including those in its alternatives. */
function countOf(list: readonly unknown[]): number {
  const values = (one: unknown) => (isRecord(one) && Array.isArray(one.enum) ? one.enum.length : 1);
  return list.reduce((count: number, one) => count + values(one), 0);
}

const UNREAD_IN_LITERALS = ['anyOf', 'oneOf', ...CONDITIONS, ...Object.values(LIMITS).flat()];

/** The literals of one alternative: a `const`, or an `enum` of several. Undefined if it has other limits. */
function literalsOf(alternative: unknown): readonly unknown[] | undefined {
  if (!isRecord(alternative)) return undefined;
  const { const: value, enum: values, title } = alternative;
  const isOne = Object.hasOwn(alternative, 'const');
  if (UNREAD_IN_LITERALS.some((key) => Object.hasOwn(alternative, key))) return undefined;
  if (isOne === Object.hasOwn(alternative, 'enum')) return undefined;
  if (!isOne && !Array.isArray(values)) return undefined;
  const literals = isOne ? [{ const: value, title }] : (values as unknown[]).map((one) => ({ const: one }));
  return literals.filter((literal) => isOfType(literal.const, own(alternative, 'type')));
}

function choicesIn(
  spelling: ImportedChoices['spelling'],
  list: readonly unknown[],
): ImportedChoices | undefined {
  const choices = list.map((one): ImportedChoice | undefined => {
    const value = isRecord(one) ? own(one, 'const') : undefined;
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return undefined;
    return { value, title: isRecord(one) ? own(one, 'title') : undefined };
  });
  return choices.every((choice) => choice !== undefined) ? { spelling, choices } : undefined;
}

/** Makes a check of values against the type and limits of a schema. Undefined if a limit cannot be checked. */
function judgeOf(schema: RawSchema): ((value: unknown) => boolean) | undefined {
  const isKnownFormat = TEXT_FORMATS.some((format) => format === own(schema, 'format'));
  if (isKnownFormat || ['pattern', ...CONDITIONS].some((key) => Object.hasOwn(schema, key))) return undefined;
  const limits = { string: pick(schema, LENGTHS), number: pick(schema, BOUNDS) };
  const fields = Object.entries(limits)
    .filter(([, keywords]) => Object.keys(keywords).length > 0)
    .map(([type, keywords]) => [type, withFormNumbers({ type, ...keywords })] as const);
  const form = checkFormSchema(
    { type: 'object', properties: Object.fromEntries(fields) },
    {},
    { patterns: true },
  );
  if (!form.ok) return undefined;
  return (value) => {
    const isLimited = Object.hasOwn(form.schema.properties, typeof value);
    return (
      isOfType(value, own(schema, 'type')) &&
      (!isLimited || checkFormAnswer(form.schema, { [typeof value]: value }).ok)
    );
  };
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === undefined) return true;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.includes(typeof value) || (types.includes('integer') && Number.isInteger(value));
}
