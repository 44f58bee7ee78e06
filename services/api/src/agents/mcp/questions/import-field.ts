import { DEFAULT_FORM_CAPS } from '@parley/core/domain/forms/bounds';
import { TEXT_FORMATS } from '@parley/core/domain/forms/formats';
import { isRecord, own } from '@parley/core/domain/plain-record';
import { faultOfProse, lengthOf } from '@parley/core/domain/text';
import { choicesOf, itemsOf, selectOf, valuesOf } from './import-choices.ts';
import { withFormNumbers } from './import-numbers.ts';
import { CHOICES, CONDITIONS, LENGTHS, LIMITS, type RawSchema, unwrap } from './parts.ts';
import type { FieldRestore } from './restores.ts';

interface ImportedField {
  /** A field of the form subset, unless it asks for something that the subset does not have. */
  readonly field: unknown;
  readonly restore: FieldRestore;
  /** The server takes null for no answer. */
  readonly isNullable: boolean;
  /** What the server says about the field, in all places that were read. */
  readonly parts: readonly RawSchema[];
}

const EXAMPLES_MAX = 5;
const EXAMPLE_LENGTH_MAX = 100;
/** Examples beyond these are not read. */
const EXAMPLES_READ = 50;

const LABELS = ['type', 'title', 'description', 'default'];

/**
 * Rewrites one field of a server's schema: references into the schema, wrappers of null, choices of any spelling and of
 * numbers, exclusive bounds. Annotations and formats that forms do not know are dropped, for they make no answer wrong that
 * the server would take. What else is outside the subset stays, so that the check of the form says what it is.
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
  // Whatever the type is, the check names it; until then every limit counts.
  const limits = typeof type === 'string' ? LIMITS[type] : undefined;
  return limits?.includes(key) ?? (typeof type !== 'string' && Object.values(LIMITS).flat().includes(key));
}

interface WithChoices {
  readonly field: RawSchema;
  readonly values?: FieldRestore['values'];
  readonly itemParts?: readonly RawSchema[];
}

/** Choices as forms spell them: `enum` or `oneOf` for one, `enum` or `anyOf` in the items for several. */
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

/** The default of choices, which are texts. */
function withTextDefault(field: RawSchema): RawSchema {
  const preset = own(field, 'default');
  if (preset === undefined) return field;
  const text = (one: unknown) => (typeof one === 'number' || typeof one === 'boolean' ? String(one) : one);
  // A longer list fits no field, so it is dropped.
  const list = Array.isArray(preset) ? preset.slice(0, DEFAULT_FORM_CAPS.options + 1).map(text) : undefined;
  return { ...field, default: list ?? text(preset) };
}

/**
 * A format that forms do not know is dropped. Schema generators add a `pattern` to every `format`, often one that RE2 does not
 * know: a known format suffices.
 */
function withKnownFormat(field: RawSchema): RawSchema {
  const { format, pattern, ...others } = field;
  if (TEXT_FORMATS.some((known) => known === format)) return { ...others, format };
  return { ...others, ...(pattern !== undefined && { pattern }) };
}

/** Adds to the description what people cannot see otherwise, as far as there is room: examples, limits of decimals. */
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
