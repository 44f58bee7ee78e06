import { TEXT_FORMATS } from '@parley/shared/domain/forms/formats';
import { isRecord, own } from '@parley/shared/domain/plain-record';
import type { FieldRestore } from './restores.ts';

/** A part of a server's schema. */
export type RawSchema = Record<string, unknown>;

export interface ImportedField {
  /** A field of the form subset, unless it asks for something that the subset does not have. */
  readonly field: unknown;
  readonly restore: FieldRestore;
  /** The server takes null for no answer. */
  readonly isNullable: boolean;
}

/** References and wrappers that are followed for one field. */
const STEPS_MAX = 8;
const EXAMPLES_MAX = 5;
const EXAMPLE_LENGTH_MAX = 100;

const LABELS = ['type', 'title', 'description', 'default'];
const CHOICES = ['enum', 'enumNames', 'oneOf', 'anyOf', 'const'];
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
/** Keywords that limit the valid values of a field, by its type. Those of other types limit nothing. */
const LIMITS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: BOUNDS,
  integer: BOUNDS,
  array: ['items', 'minItems', 'maxItems', 'prefixItems', 'contains', 'minContains', 'maxContains'],
  object: ['properties', 'patternProperties'],
};
/** Keywords that limit values whatever their type, beside the choices. Forms have none of them. */
export const CONDITIONS = [
  '$ref',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
];

/**
 * Rewrites one field of a server's schema: references into the schema, wrappers of null, choices of any spelling and of
 * numbers, exclusive bounds. Annotations and formats that forms do not know are dropped, for they make no answer wrong that
 * the server would take. What else is outside the subset stays, so that the check of the form says what it is.
 */
export function importField(raw: unknown, root: RawSchema): ImportedField {
  if (!isRecord(raw)) return { field: raw, restore: {}, isNullable: false };
  const { field: unwrapped, isNullable } = unwrap(raw, root);
  const { field, values } = withChoices(unwrapped, root);
  const kept = Object.fromEntries(Object.entries(field).filter(([key]) => isKept(key, field.type)));
  const plain = withNumbers(withKnownFormat(kept));
  return { field: withNotes(plain, field), restore: values === undefined ? {} : { values }, isNullable };
}

function isKept(key: string, type: unknown): boolean {
  if (LABELS.includes(key) || CHOICES.includes(key) || CONDITIONS.includes(key)) return true;
  // Whatever the type is, the check names it; until then every limit counts.
  const limits = typeof type === 'string' ? LIMITS[type] : undefined;
  return limits?.includes(key) ?? (typeof type !== 'string' && Object.values(LIMITS).flat().includes(key));
}

/** Follows references, single `allOf`s and the spellings of "or null", and keeps what stands beside them. */
function unwrap(raw: RawSchema, root: RawSchema): { field: RawSchema; isNullable: boolean } {
  let field = raw;
  let isNullable = false;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    const { field: without, wasNullable } = withoutNull(field);
    isNullable ||= wasNullable;
    const inner = referred(without, root) ?? onlyOne(without);
    field = inner ?? without;
    if (inner === undefined) break;
  }
  return { field, isNullable };
}

/** What a local reference names, with what stands beside the reference. Undefined where nothing is referred to. */
export function referred(field: RawSchema, root: RawSchema): RawSchema | undefined {
  const { $ref: ref, ...beside } = field;
  const [, group, name] = (typeof ref === 'string' && /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref)) || [];
  const definitions = group === undefined ? undefined : own(root, group);
  const found = isRecord(definitions) && name !== undefined ? own(definitions, unescaped(name)) : undefined;
  return isRecord(found) ? { ...found, ...beside } : undefined;
}

/** A name in a JSON pointer (RFC 6901). */
function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The only schema of an `allOf`, `anyOf` or `oneOf`, with what stands beside it. A single choice stays a choice. */
function onlyOne(field: RawSchema): RawSchema | undefined {
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    const { [key]: list, ...beside } = field;
    const [only] = Array.isArray(list) && list.length === 1 ? (list as unknown[]) : [];
    if (isRecord(only) && !Object.hasOwn(only, 'const')) return { ...only, ...beside };
  }
  return undefined;
}

const isNull = (schema: unknown) =>
  schema === null || (isRecord(schema) && (schema.type === 'null' || own(schema, 'const') === null));

function withoutNull(field: RawSchema): { field: RawSchema; wasNullable: boolean } {
  const { nullable, ...others } = field;
  let wasNullable = nullable === true;
  const rest = Object.entries(others).map(([key, value]): [string, unknown] => {
    if (!Array.isArray(value) || !['type', 'enum', 'anyOf', 'oneOf'].includes(key)) return [key, value];
    const left = value.filter((one) => !(key === 'type' ? one === 'null' : isNull(one)));
    if (left.length < value.length) wasNullable = true;
    return [key, key === 'type' && left.length === 1 ? left[0] : left];
  });
  // A null as the default only says that nothing is chosen yet.
  return {
    field: Object.fromEntries(rest.filter(([key, one]) => key !== 'default' || one !== null)),
    wasNullable,
  };
}

interface ImportedChoice {
  readonly value: string | number | boolean;
  readonly title?: unknown;
}

interface ImportedChoices {
  /** Plain values, values with names beside them (`enumNames`), or each value with its title. */
  readonly spelling: 'values' | 'named' | 'titled';
  readonly choices: readonly ImportedChoice[];
}

interface WithChoices {
  readonly field: RawSchema;
  readonly values?: FieldRestore['values'];
}

/** ImportedChoices as forms spell them: `enum` or `oneOf` for one, `enum` or `anyOf` in the items for several. */
function withChoices(field: RawSchema, root: RawSchema): WithChoices {
  if (field.type === 'array' && isRecord(field.items)) {
    const { field: items } = unwrap(field.items, root);
    const choices = choicesOf(items);
    if (choices === undefined) return { field: { ...field, items } };
    const list = { ...field, items: itemsOf(choices) };
    return { field: withTextDefault(list), values: valuesOf(choices) };
  }
  const choices = choicesOf(field);
  if (choices === undefined) return { field };
  const others = Object.fromEntries(Object.entries(field).filter(([key]) => !CHOICES.includes(key)));
  const one = { ...others, type: 'string', ...selectOf(choices) };
  return { field: withTextDefault(one), values: valuesOf(choices) };
}

/** The choices of a schema; undefined where it has none, or not only choices of plain values. */
function choicesOf(field: RawSchema): ImportedChoices | undefined {
  if (Object.hasOwn(field, 'const')) return choicesIn('values', [field]);
  if (Array.isArray(field.enum)) {
    const { enum: values, enumNames: names } = field;
    const hasNames = Array.isArray(names) && names.length === values.length;
    const given = values.map((value: unknown, at) => ({
      const: value,
      title: hasNames ? names[at] : undefined,
    }));
    return choicesIn(hasNames ? 'named' : 'values', given);
  }
  const alternatives = own(field, 'oneOf') ?? own(field, 'anyOf');
  return Array.isArray(alternatives) ? choicesIn('titled', alternatives.flatMap(literals)) : undefined;
}

/** The literals of one alternative: a `const`, or an `enum` of several. */
function literals(alternative: unknown): readonly unknown[] {
  if (!isRecord(alternative) || !Array.isArray(alternative.enum)) return [alternative];
  return alternative.enum.map((value: unknown) => ({ const: value }));
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

function selectOf({ spelling, choices }: ImportedChoices): RawSchema {
  if (spelling === 'titled') return { oneOf: titled(choices) };
  const names = spelling === 'named' ? { enumNames: choices.map(({ title }) => title) } : {};
  return { enum: choices.map(({ value }) => String(value)), ...names };
}

function itemsOf({ spelling, choices }: ImportedChoices): RawSchema {
  return spelling === 'values'
    ? { type: 'string', enum: choices.map(({ value }) => String(value)) }
    : { anyOf: titled(choices) };
}

/** A choice without a title is shown by its value. */
function titled(choices: readonly ImportedChoice[]): readonly unknown[] {
  return choices.map(({ value, title = String(value) }) => ({ const: String(value), title }));
}

/** The values of choices that are no texts, by their texts. */
function valuesOf({ choices }: ImportedChoices): FieldRestore['values'] {
  const others = choices.flatMap(({ value }) =>
    typeof value === 'string' ? [] : [[String(value), value] as const],
  );
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** The default of choices, which are texts. */
function withTextDefault(field: RawSchema): RawSchema {
  const preset = own(field, 'default');
  if (preset === undefined) return field;
  const text = (one: unknown) => (typeof one === 'number' || typeof one === 'boolean' ? String(one) : one);
  return { ...field, default: Array.isArray(preset) ? preset.map(text) : text(preset) };
}
/**
 * A format that forms do not know is dropped, but for that of a secret. Schema generators add a `pattern` to every `format`,
 * often one that RE2 does not know: a known format suffices.
 */
function withKnownFormat(field: RawSchema): RawSchema {
  const { format, pattern, ...others } = field;
  const isKnown = TEXT_FORMATS.some((known) => known === format);
  if (isKnown || format === 'password') return { ...others, format };
  return { ...others, ...(pattern !== undefined && { pattern }) };
}

/** Exclusive bounds become the next number that is allowed; whole steps become whole numbers. */
function withNumbers(field: RawSchema): RawSchema {
  const { exclusiveMinimum, exclusiveMaximum, multipleOf, ...others } = field;
  if (field.type !== 'number' && field.type !== 'integer') return field;
  const isWhole = field.type === 'integer' || multipleOf === 1;
  const least = inclusive(own(others, 'minimum'), exclusiveMinimum, isWhole, 1);
  const most = inclusive(own(others, 'maximum'), exclusiveMaximum, isWhole, -1);
  return {
    ...others,
    type: isWhole ? 'integer' : 'number',
    ...(least !== undefined && { minimum: least }),
    ...(most !== undefined && { maximum: most }),
    ...(multipleOf !== undefined && multipleOf !== 1 && { multipleOf }),
  };
}

/** The bound that allows what both allow. Draft 4 writes `true` for an exclusive bound, beside the bound. */
function inclusive(bound: unknown, exclusive: unknown, isWhole: boolean, direction: 1 | -1): unknown {
  const limit = exclusive === true ? bound : exclusive;
  if (typeof limit !== 'number' || !Number.isFinite(limit)) return bound;
  const next = isWhole
    ? (direction === 1 ? Math.floor(limit) : Math.ceil(limit)) + direction
    : direction * nextUp(direction * limit);
  if (exclusive === true || typeof bound !== 'number') return next;
  return direction === 1 ? Math.max(bound, next) : Math.min(bound, next);
}

/** The smallest number above this one. */
function nextUp(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value === 0 ? 0 : value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value < 0 ? -1n : 1n));
  return bits.getFloat64(0);
}

/** Adds to the description what people cannot see otherwise: examples, and limits of numbers with decimals. */
function withNotes(field: RawSchema, raw: RawSchema): RawSchema {
  const given = own(field, 'description');
  if (given !== undefined && typeof given !== 'string') return field;
  const isDecimal = field.type === 'number';
  const notes = [
    given,
    isDecimal && typeof raw.exclusiveMinimum === 'number' ? `More than ${raw.exclusiveMinimum}.` : undefined,
    isDecimal && typeof raw.exclusiveMaximum === 'number' ? `Less than ${raw.exclusiveMaximum}.` : undefined,
    field.multipleOf === undefined ? undefined : `A multiple of ${String(field.multipleOf)}.`,
    describeExamples(own(raw, 'examples')),
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? field : { ...field, description: notes.join(' ') };
}

function describeExamples(examples: unknown): string | undefined {
  if (!Array.isArray(examples)) return undefined;
  const shown = examples
    .filter((example) => ['string', 'number', 'boolean'].includes(typeof example))
    .map(String)
    .filter(({ length }) => length > 0 && length <= EXAMPLE_LENGTH_MAX)
    .slice(0, EXAMPLES_MAX);
  return shown.length === 0 ? undefined : `For example: ${shown.join(', ')}`;
}
