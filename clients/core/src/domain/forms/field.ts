/**
 * Reads one field of a form schema and refuses what is outside the subset of MCP elicitation. The schema as a whole is read in
 * `schema.ts`, and answers are checked in `value.ts`.
 */

import { joinPath } from '../issue.ts';
import { isRecord, own } from '../plain-record.ts';
import { textOfFault } from './fault.ts';
import { TEXT_FORMATS } from './formats.ts';
import { faultOfMatch, sizeOfPattern } from './pattern.ts';
import {
  bound,
  count,
  only,
  prose,
  type Reader,
  readList,
  readShape,
  refuse,
  replacementFor,
  type SchemaReading,
  type Shape,
} from './shape.ts';
import { isWithoutMultiple } from './step.ts';
import {
  ANSWER_TEXT_MAX,
  checkValue,
  type FormField,
  type FormOption,
  type NumberField,
  type SelectField,
  valuesOf,
} from './value.ts';

const title = prose((caps) => caps.titleLength);
const description = prose((caps) => caps.descriptionLength);
const choice = prose(() => ANSWER_TEXT_MAX);

export const LABELS = { title, description };

/** The keywords of every field. `type` has already selected the shape, and `default` is checked after the rest of the field. */
const COMMON: Record<string, Reader> = { type: (value) => value, ...LABELS, default: (value) => value };

const OPTION: Shape = { name: 'choice', keywords: { const: choice, title }, needs: ['const', 'title'] };

const values = choices(readList<string>(choice, (value) => value));
const options = choices(
  readList<FormOption>(
    (value, path, reading) => readShape(value, path, OPTION, reading),
    (option) => option.const,
  ),
);

const ITEMS: Shape = {
  name: 'list of choices',
  keywords: { type: only('string'), enum: values },
  needs: ['type', 'enum'],
};
const TITLED_ITEMS: Shape = {
  name: 'list of titled choices',
  keywords: { anyOf: options },
  needs: ['anyOf'],
};

const TEXT: Shape = {
  name: 'string field',
  keywords: { ...COMMON, minLength: count, maxLength: count, format: readFormat },
  needs: [],
};
const PATTERNED_TEXT: Shape = { ...TEXT, keywords: { ...TEXT.keywords, pattern: readPattern } };
const NUMBER: Shape = {
  name: 'number field',
  keywords: { ...COMMON, minimum: bound, maximum: bound },
  needs: [],
};
const STEPPED_NUMBER: Shape = { ...NUMBER, keywords: { ...NUMBER.keywords, multipleOf: readStep } };
const BOOLEAN: Shape = { name: 'boolean field', keywords: COMMON, needs: [] };
const SELECT: Shape = {
  name: 'select field',
  keywords: { ...COMMON, enum: values, enumNames: readList(title) },
  needs: [],
};
const TITLED_SELECT: Shape = {
  name: 'titled select field',
  keywords: { ...COMMON, oneOf: options },
  needs: [],
};
const MULTI_SELECT: Shape = {
  name: 'multi-select field',
  keywords: { ...COMMON, items: readItems, minItems: count, maxItems: count },
  needs: ['items'],
};

/** Copies a field of the subset, or records its faults and returns undefined. */
export function readField(raw: unknown, path: string, reading: SchemaReading): FormField | undefined {
  if (!isRecord(raw)) return refuse(reading, path, 'must be an object that describes a field');
  const shape = shapeOf(raw, reading);
  if (shape === undefined) return refuseKind(raw, path, reading);
  const field = readShape(raw, path, shape, reading) as FormField | undefined;
  if (field === undefined) return undefined;
  const clash = findClash(field);
  if (clash !== undefined) return refuse(reading, joinPath(path, clash.keyword), clash.message);
  if (field.default === undefined) return field;
  const preset = checkValue(field, field.default);
  const mismatch = preset.ok ? faultOfMatch(field, preset.value) : undefined;
  if (mismatch !== undefined)
    return refuse(reading, joinPath(path, 'default'), `does not fit its own field: ${mismatch}`);
  if (preset.ok) return { ...field, default: preset.value } as FormField;
  return refuse(
    reading,
    joinPath(path, 'default'),
    `does not fit its own field: ${textOfFault(preset.fault)}`,
  );
}

function shapeOf(raw: Record<string, unknown>, { patternRoom }: SchemaReading): Shape | undefined {
  switch (own(raw, 'type')) {
    case 'string':
      if (own(raw, 'enum') !== undefined) return SELECT;
      if (own(raw, 'oneOf') !== undefined) return TITLED_SELECT;
      return patternRoom === undefined ? TEXT : PATTERNED_TEXT;
    case 'number':
    case 'integer':
      return patternRoom === undefined ? NUMBER : STEPPED_NUMBER;
    case 'boolean':
      return BOOLEAN;
    case 'array':
      return MULTI_SELECT;
    default:
      return undefined;
  }
}

function refuseKind(raw: Record<string, unknown>, path: string, reading: SchemaReading): undefined {
  for (const key of Object.keys(raw)) {
    const hint = replacementFor(key);
    if (hint !== undefined) refuse(reading, joinPath(path, key), hint);
  }
  const kinds = 'must be string, number, integer, boolean or array';
  return refuse(reading, joinPath(path, 'type'), `${kinds}; a form is flat, so no field is an object`);
}

type Clash = { keyword: string; message: string };

/** Finds a keyword that contradicts others, so that no answer could be valid. */
function findClash(field: FormField): Clash | undefined {
  switch (field.type) {
    case 'number':
    case 'integer':
      return clashOfBounds(field);
    case 'array':
      return clashOfMost(
        'minItems',
        field.minItems,
        Math.min(field.maxItems ?? Infinity, valuesOf(field.items).length),
      );
    case 'string':
      if ('enum' in field) return clashOfNames(field);
      if ('oneOf' in field) return undefined;
      return clashOfMost(
        'minLength',
        field.minLength,
        Math.min(field.maxLength ?? Infinity, ANSWER_TEXT_MAX),
      );
    default:
      return undefined;
  }
}

function clashOfBounds({ type, minimum, maximum, multipleOf }: NumberField): Clash | undefined {
  const least = Math.max(minimum ?? -Infinity, Number.MIN_SAFE_INTEGER);
  const most = Math.min(maximum ?? Infinity, Number.MAX_SAFE_INTEGER);
  const step = multipleOf ?? (type === 'integer' ? 1 : undefined);
  const empty = step === undefined ? least > most : isWithoutMultiple(least, most, step);
  const keyword = minimum === undefined ? 'maximum' : 'minimum';
  return empty ? { keyword, message: 'leaves no number to answer with; widen the bounds' } : undefined;
}

function clashOfMost(keyword: string, least: number | undefined, most: number): Clash | undefined {
  return (least ?? 0) > most
    ? { keyword, message: `must be at most ${most}, or no answer would fit` }
    : undefined;
}

function clashOfNames({ enum: offered, enumNames }: SelectField): Clash | undefined {
  if (enumNames === undefined || enumNames.length === offered.length) return undefined;
  return { keyword: 'enumNames', message: `must have ${offered.length} entries, one for each enum value` };
}

function readFormat(value: unknown, path: string, reading: SchemaReading): unknown {
  const known = TEXT_FORMATS.find((format) => format === value);
  return known ?? refuse(reading, path, `must be ${TEXT_FORMATS.join(', ')}; leave it out for other text`);
}

function readStep(value: unknown, path: string, reading: SchemaReading): unknown {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
    ? value
    : refuse(reading, path, 'must be a number above 0');
}

function readPattern(value: unknown, path: string, reading: SchemaReading): unknown {
  if (typeof value !== 'string') return refuse(reading, path, 'must be a string');
  const size = sizeOfPattern(value);
  if (typeof size !== 'number') return refuse(reading, path, size.fault);
  const room = (reading.patternRoom ?? 0) - size;
  if (room < 0)
    return refuse(reading, path, 'must be simpler: the patterns of this form are too large together');
  reading.patternRoom = room;
  return value;
}

function readItems(value: unknown, path: string, reading: SchemaReading): unknown {
  const titled = isRecord(value) && (Object.hasOwn(value, 'anyOf') || Object.hasOwn(value, 'oneOf'));
  return readShape(value, path, titled ? TITLED_ITEMS : ITEMS, reading);
}

/** Limits the number of choices before any of them is read. */
function choices(reader: Reader): Reader {
  return (value, path, reading) => {
    const { options: most } = reading.caps;
    if (Array.isArray(value) && (value.length < 1 || value.length > most)) {
      return refuse(reading, path, `must offer 1 to ${most} choices`);
    }
    return reader(value, path, reading);
  };
}
