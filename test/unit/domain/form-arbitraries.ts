import type { FormContent } from '@parley/core/domain/forms/answer';
import type { FormField, FormSchema } from '@parley/core/domain/forms/schema';
import type { FormValue, MultiSelectField, NumberField, TextField } from '@parley/core/domain/forms/value';
import fc from 'fast-check';
import { FORMAT_SAMPLES } from './form-samples.ts';

const RESERVED = ['__proto__', 'constructor', 'prototype'];

/** Any text an answer may hold: every code point but surrogates and NUL. */
const answerText = (constraints: { minLength?: number; maxLength?: number }) =>
  fc.string({ unit: 'binary', ...constraints }).map((text) => text.replaceAll('\0', '0'));
const prose = fc.string({ unit: 'grapheme', maxLength: 12 });
const optionValues = fc.uniqueArray(prose, { minLength: 1, maxLength: 5 });
const optionList = optionValues.chain((values) =>
  fc.tuple(...values.map((value) => prose.map((title) => ({ const: value, title })))),
);
const safeNumber = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -20, max: 20 }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
);
const labels = {
  title: fc.option(prose, { nil: undefined }),
  description: fc.option(prose, { nil: undefined }),
};

/** Drops keys without a value, and puts the others in any order. */
function object(parts: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const keys = Object.keys(parts);
  const shuffled = fc.shuffledSubarray(keys, { minLength: keys.length });
  return fc.tuple(fc.record(parts), shuffled).map(([record, order]) => {
    const present = order.filter((key) => record[key] !== undefined);
    return Object.fromEntries(present.map((key) => [key, record[key]]));
  });
}

/** A range, open on either side or both. */
function range(
  least: string,
  most: string,
  value: fc.Arbitrary<number>,
): fc.Arbitrary<Record<string, number>> {
  return fc.tuple(value, value, fc.boolean(), fc.boolean()).map(([a, b, hasLeast, hasMost]) => ({
    ...(hasLeast && { [least]: Math.min(a, b) }),
    ...(hasMost && { [most]: Math.max(a, b) }),
  }));
}

function field(type: string, keywords: Record<string, fc.Arbitrary<unknown>> = {}) {
  return object({ type: fc.constant(type), ...keywords, ...labels });
}

const textField = fc.tuple(field('string'), range('minLength', 'maxLength', fc.nat(12)));
const formatField = field('string', { format: fc.constantFrom(...Object.keys(FORMAT_SAMPLES)) });
const numberField = fc.tuple(field('number'), range('minimum', 'maximum', safeNumber));
const integerField = fc.tuple(field('integer'), range('minimum', 'maximum', fc.maxSafeInteger()));
const legacySelectField = optionList.chain((options) =>
  field('string', {
    enum: fc.constant(options.map((option) => option.const)),
    enumNames: fc.constant(options.map((option) => option.title)),
  }),
);
const multiSelectField = fc
  .oneof(
    optionValues.map((values) => ({ items: { type: 'string', enum: values }, size: values.length })),
    optionList.map((options) => ({ items: { anyOf: options }, size: options.length })),
  )
  .chain(({ items, size }) =>
    fc.tuple(field('array', { items: fc.constant(items) }), range('minItems', 'maxItems', fc.nat(size))),
  );

const bareField: fc.Arbitrary<FormField> = fc
  .oneof(
    ...[textField, numberField, integerField, multiSelectField].map((pair) =>
      pair.map(([keywords, limits]) => ({ ...keywords, ...limits })),
    ),
    ...[formatField, field('boolean'), legacySelectField],
    ...[field('string', { enum: optionValues }), field('string', { oneOf: optionList })],
  )
  .map((made) => made as FormField);

function rangeOf({ minimum, maximum }: NumberField, reach: number): { min: number; max: number } {
  return { min: minimum ?? Math.min(-reach, maximum ?? 0), max: maximum ?? Math.max(reach, minimum ?? 0) };
}

function choicesOf({ items }: MultiSelectField): string[] {
  return 'enum' in items ? items.enum : items.anyOf.map((option) => option.const);
}

/** A valid value of a field. */
export function valueFor(field: FormField): fc.Arbitrary<FormValue> {
  switch (field.type) {
    case 'boolean':
      return fc.boolean();
    case 'number':
      return fc.double({ ...rangeOf(field, 1e9), noNaN: true });
    case 'integer':
      return fc.integer(rangeOf(field, Number.MAX_SAFE_INTEGER));
    case 'array':
      return fc.shuffledSubarray(choicesOf(field), {
        minLength: field.minItems ?? 0,
        maxLength: Math.min(field.maxItems ?? Infinity, choicesOf(field).length),
      });
    case 'string':
      if ('enum' in field) return fc.constantFrom(...field.enum);
      if ('oneOf' in field) return fc.constantFrom(...field.oneOf.map((option) => option.const));
      if (field.format !== undefined) return fc.constantFrom(...FORMAT_SAMPLES[field.format].fits);
      return answerText({
        minLength: field.minLength ?? 0,
        maxLength: field.maxLength ?? (field.minLength ?? 0) + 20,
      });
  }
}

const NEVER_VALUES: unknown[] = [
  ...[null, {}, { length: 1 }, [[]], [null], new Date(0)],
  ...[Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2n],
];

/** A value of the wrong kind, or one that just misses what the field asks for. */
export function wrongValueFor(field: FormField): fc.Arbitrary<unknown> {
  return fc.constantFrom(...NEVER_VALUES, ...wrongValues(field));
}

function wrongValues(field: FormField): unknown[] {
  switch (field.type) {
    case 'boolean':
      return ['true', 'false', '', 0, 1, [true]];
    case 'number':
    case 'integer':
      return wrongNumbers(field);
    case 'array':
      return wrongChoices(field);
    case 'string':
      if ('enum' in field || 'oneOf' in field) return ['no such choice, ever', ['a'], 1, true];
      return wrongTexts(field);
  }
}

function wrongNumbers({ type, minimum, maximum }: NumberField): unknown[] {
  return [
    ...['5', '', '1e400', 'NaN', '0x10', true, [5], -(2 ** 53)],
    ...(type === 'integer' ? [0.5, -1.25] : []),
    ...(minimum === undefined ? [] : [minimum - 1 - Math.abs(minimum)]),
    ...(maximum === undefined ? [] : [maximum + 1 + Math.abs(maximum)]),
  ];
}

function wrongChoices(field: MultiSelectField): unknown[] {
  const values = choicesOf(field);
  const { minItems = 0, maxItems = values.length } = field;
  return [
    ...['', values[0], [...values, values[0]], [values[0], values[0]], ['no such choice, ever'], [0]],
    ...[new Array(3), new Array(2 ** 32 - 1)],
    ...(minItems > 0 ? [values.slice(0, minItems - 1)] : []),
    ...(maxItems < values.length ? [values.slice(0, maxItems + 1)] : []),
  ];
}

function wrongTexts({ format, minLength = 0, maxLength }: TextField): unknown[] {
  return [
    ...['\0', 'ab\0', '\ud800', 'a\udc00b', 'x'.repeat(10_001), 5, true, ['a']],
    ...(format === undefined ? [] : FORMAT_SAMPLES[format].fails),
    ...(minLength > 0 ? ['\u{1f600}'.repeat(minLength - 1)] : []),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
  ];
}

/** A field of the subset, sometimes with a default that fits it. */
const formField: fc.Arbitrary<FormField> = bareField.chain((field) =>
  fc.option(valueFor(field), { nil: undefined }).map((preset) => {
    const value = Object.is(preset, -0) ? 0 : preset;
    return (value === undefined ? field : { ...field, default: value }) as FormField;
  }),
);

const fieldName = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.constantFrom('toString', 'valueOf', '0', 'a.b', 'hasOwnProperty'),
  )
  .filter((name) => !RESERVED.includes(name));

/** A schema of the subset, well below every cap. */
export const formSchema: fc.Arbitrary<FormSchema> = fc
  .uniqueArray(fc.tuple(fieldName, formField), { maxLength: 5, selector: ([name]) => name })
  .chain((fields) =>
    object({
      type: fc.constant('object'),
      ...labels,
      $schema: fc.constantFrom(undefined, 'https://json-schema.org/draft/2020-12/schema'),
      additionalProperties: fc.constantFrom(undefined, false),
      properties: fc.constant(Object.fromEntries(fields)),
      required: fc.option(fc.shuffledSubarray(fields.map(([name]) => name)), { nil: undefined }),
    }),
  )
  .map((schema) => schema as FormSchema);

/** A valid answer: every required field, any of the others, keys in any order. */
export function answerTo(schema: FormSchema): fc.Arbitrary<FormContent> {
  return object(
    Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => {
        const value: fc.Arbitrary<unknown> = valueFor(field);
        return [name, schema.required?.includes(name) ? value : fc.option(value, { nil: undefined })];
      }),
    ),
  ) as fc.Arbitrary<FormContent>;
}

/** Anything a program can hold, with keys that tempt a careless copy. `keys` are made likely. */
export function hostile(...keys: string[]): fc.Arbitrary<unknown> {
  return fc.anything({
    key: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', ...keys)),
    values: [
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.constantFrom(...keys, '__proto__', null, undefined),
    ],
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  });
}
