/**
 * Rewrites one field of a server's schema into the form subset. Whole schemas are handled in `import-schema.ts`, references in
 * `parts.ts`.
 */

import { DEFAULT_FORM_CAPS } from '@parley/core/domain/forms/bounds';
import { TEXT_FORMATS } from '@parley/core/domain/forms/formats';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { faultOfProse, lengthOf } from '@parley/core/domain/text';
import { choicesOf, itemsOf, selectOf, valuesOf } from './import-choices.ts';
import { withFormNumbers } from './import-numbers.ts';
import { CHOICES, CONDITIONS, LENGTHS, LIMITS, type RawSchema, unwrap } from './parts.ts';
import type { FieldRestore } from './restores.ts';

interface ImportedField {
  /** The field in the form subset, or unchanged if it needs something that the subset lacks. */
  readonly field: unknown;
  readonly restore: FieldRestore;
  /** True if the server accepts null as "no answer". */
  readonly isNullable: boolean;
  /** Everything that the server's schema says about the field, from all places that were read. */
  readonly parts: readonly RawSchema[];
}

const EXAMPLES_MAX = 5;
const EXAMPLE_LENGTH_MAX = 100;
/** The maximum number of examples that are read. */
const EXAMPLES_READ = 50;

const LABELS = ['type', 'title', 'description', 'default'];

/**
 * Rewrites one field of a server's schema into the form subset: references into the schema, wrappers of null, choices in any
 * notation and of numbers, exclusive bounds. Annotations and formats that forms do not know are dropped, because that makes no
 * valid answer invalid. Everything else outside the subset stays, so that the check of the form can name it.
 */
export function importField(raw: unknown, root: RawSchema): ImportedField {
  if (!isRecord(raw)) return { field: raw, restore: {}, isNullable: false, parts: [] };
  const { schema, parts, namesNull, takesNull } = unwrap(raw, root);
  const { field, values, itemParts = [] } = withChoices(schema, root);
  const kept = Object.fromEntries(Object.entries(field).filter(([key]) => isKept(key, field.type)));
  const plain = withFormNumbers(withKnownFormat(kept));
  return {
    field: withNotes(plain, field),
    restore: values === undefined ? {} : { values },
    isNullable: namesNull && takesNull === true,
    parts: [...parts, ...itemParts],
  };
}

function isKept(key: string, type: unknown): boolean {
  if ([...LABELS, ...CHOICES, 'enumNames', ...CONDITIONS].includes(key)) return true;
  // An unknown type is reported by the check of the form; until then, the limits of all types count.
  const limits = typeof type === 'string' ? LIMITS[type] : undefined;
  return limits?.includes(key) ?? (typeof type !== 'string' && Object.values(LIMITS).flat().includes(key));
}

interface WithChoices {
  readonly field: RawSchema;
  readonly values?: FieldRestore['values'];
  readonly itemParts?: readonly RawSchema[];
}

/**
 * The field with its choices in the notation of forms: `enum` or `oneOf` for one choice, `enum` or `anyOf` in the items for
 * several.
 */
function withChoices(field: RawSchema, root: RawSchema): WithChoices {
  if (field.type === 'array' && isRecord(field.items)) {
    const { schema: items, parts: itemParts } = unwrap(field.items, root);
    const choices = choicesOf(items);
    if (choices === undefined) return { field: { ...field, items }, itemParts };
    const list = { ...field, items: itemsOf(choices) };
    return { field: withTextDefault(list), values: valuesOf(choices), itemParts };
  }
  const choices = choicesOf(field);
  if (choices === undefined) return { field };
  const judged = [...CHOICES, 'enumNames', ...LENGTHS];
  const others = Object.fromEntries(Object.entries(field).filter(([key]) => !judged.includes(key)));
  return { field: withTextDefault({ ...others, ...selectOf(choices) }), values: valuesOf(choices) };
}

/** The field with its default as text, because the choices are texts. */
function withTextDefault(field: RawSchema): RawSchema {
  const preset = own(field, 'default');
  if (preset === undefined) return field;
  const text = (one: unknown) => (typeof one === 'number' || typeof one === 'boolean' ? String(one) : one);
  // A default with more values than any field allows is cut here, and is dropped by the check.
  const list = Array.isArray(preset) ? preset.slice(0, DEFAULT_FORM_CAPS.options + 1).map(text) : undefined;
  return { ...field, default: list ?? text(preset) };
}

/**
 * Drops a format that forms do not know. For a known format, drops the `pattern`: schema generators add one to every `format`,
 * often in a syntax that RE2 does not know, and the format suffices.
 */
function withKnownFormat(field: RawSchema): RawSchema {
  const { format, pattern, ...others } = field;
  if (TEXT_FORMATS.some((known) => known === format)) return { ...others, format };
  return { ...others, ...(pattern !== undefined && { pattern }) };
}

/**
 * Adds examples and the limits of decimals to the description as far as there is room, because the form shows them nowhere
 * else.
 */
function withNotes(field: RawSchema, raw: RawSchema): RawSchema {
  const given = own(field, 'description');
  if (given !== undefined && typeof given !== 'string') return field;
  const isDecimal = field.type === 'number';
  const notes = [
    isDecimal && typeof raw.exclusiveMinimum === 'number' ? `More than ${raw.exclusiveMinimum}.` : undefined,
    isDecimal && typeof raw.exclusiveMaximum === 'number' ? `Less than ${raw.exclusiveMaximum}.` : undefined,
    field.multipleOf === undefined ? undefined : `A multiple of ${String(field.multipleOf)}.`,
    describeExamples(own(raw, 'examples')),
  ];
  const description = notes.reduce((text: string | undefined, note) => {
    const longer = [text, note].filter((one) => one !== undefined).join(' ');
    return note === undefined || lengthOf(longer) > DEFAULT_FORM_CAPS.descriptionLength ? text : longer;
  }, given);
  return description === undefined ? field : { ...field, description };
}

function describeExamples(examples: unknown): string | undefined {
  if (!Array.isArray(examples)) return undefined;
  const shown = examples
    .slice(0, EXAMPLES_READ)
    .filter((example) => ['string', 'number', 'boolean'].includes(typeof example))
    .map(String)
    .filter((text) => text !== '' && faultOfProse(text, EXAMPLE_LENGTH_MAX) === undefined)
    .slice(0, EXAMPLES_MAX);
  return shown.length === 0 ? undefined : `For example: ${shown.join(', ')}`;
}
