import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formSchema } from './form-arbitraries.ts';

const form = (properties: unknown, rest: object = {}) => ({ type: 'object', properties, ...rest });
const withField = (field: unknown) => form({ f: field });

function issuesOf(input: unknown) {
  const check = checkFormSchema(input);
  return check.ok ? [] : check.issues;
}

function expectIssue(input: unknown, path: string, message: RegExp) {
  expect(issuesOf(input)).toContainEqual({ path, message: expect.stringMatching(message) });
}

describe('the subset', () => {
  test('counts a key whose value is undefined as absent', () => {
    const input = form({ f: { type: 'string', title: undefined } }, { required: undefined });
    expect(checkFormSchema(input)).toStrictEqual({
      ok: true,
      schema: withField({ type: 'string' }),
    });
  });
});

describe('a refusal names the place and the remedy', () => {
  const list = { type: 'string', enum: ['a', 'b'] };
  const text = (more: object) => ({ type: 'string', ...more });
  const array = (more: object) => ({ type: 'array', ...more });
  const refusedFields: [string, unknown, string, RegExp][] = [
    ['no object', 'string', '', /object that describes a field/],
    ['no type', {}, 'type', /string, number, integer, boolean or array/],
    ['two types', { type: ['string', 'null'] }, 'type', /must be string/],
    ['nested object', { type: 'object', properties: {} }, 'type', /flat/],
    ['$ref', { $ref: '#/$defs/a' }, '$ref', /write the definition out/],
    ['pattern', text({ pattern: '^(a+)+$' }), 'pattern', /not supported: use minLength/],
    ['unknown format', text({ format: 'hostname' }), 'format', /email, uri, date, date-time/],
    ['format of Object.prototype', text({ format: 'toString' }), 'format', /email/],
    ['unknown keyword', text({ examples: [] }), 'examples', /remove it: a string field takes type/],
    ['keyword of Object.prototype', text({ valueOf: 1 }), 'valueOf', /remove it/],
    ['keyword of another kind', { type: 'boolean', minLength: 1 }, 'minLength', /boolean field takes/],
    ['exclusiveMinimum', { type: 'number', exclusiveMinimum: 0 }, 'exclusiveMinimum', /use minimum/],
    ['exclusiveMaximum', { type: 'integer', exclusiveMaximum: 0 }, 'exclusiveMaximum', /use maximum/],
    ['multipleOf', { type: 'number', multipleOf: 2 }, 'multipleOf', /remove it/],
    ['title that is no text', text({ title: 5 }), 'title', /must be a string/],
    ['title too long', text({ title: 'x'.repeat(257) }), 'title', /at most 256/],
    ['description too long', text({ description: 'x'.repeat(4097) }), 'description', /at most 4096/],
    ['title with half a character', text({ title: '\ud83d' }), 'title', /Unicode/],
    ['fractional minLength', text({ minLength: 1.5 }), 'minLength', /whole number/],
    ['negative maxLength', text({ maxLength: -1 }), 'maxLength', /from 0/],
    ['minLength above maxLength', text({ minLength: 3, maxLength: 2 }), 'minLength', /at most 2/],
    ['minLength above every answer', text({ minLength: 10_001 }), 'minLength', /at most 10000/],
    ['minimum as text', { type: 'number', minimum: '1' }, 'minimum', /finite number/],
    ['minimum that overflowed', { type: 'number', minimum: JSON.parse('1e400') }, 'minimum', /finite number/],
    ['minimum above maximum', { type: 'number', minimum: 2, maximum: 1 }, 'minimum', /no number/],
    ['no integer between', { type: 'integer', minimum: 0.2, maximum: 0.8 }, 'minimum', /no number/],
    ['only unsafe numbers', { type: 'number', maximum: -1e300 }, 'maximum', /no number/],
    ['only unsafe integers', { type: 'integer', minimum: 2 ** 53 }, 'minimum', /no number/],
    ['empty enum', text({ enum: [] }), 'enum', /1 to 250 choices/],
    ['enum no list', text({ enum: 'a' }), 'enum', /list/],
    ['repeated enum value', text({ enum: ['a', 'b', 'a'] }), 'enum.2', /repeats/],
    ['enum of numbers', text({ enum: [1] }), 'enum.0', /string/],
    [
      'too many enum values',
      text({ enum: Array.from({ length: 251 }, (_, at) => `${at}`) }),
      'enum',
      /1 to 250/,
    ],
    ['enumNames too short', { ...list, enumNames: ['A'] }, 'enumNames', /2 entries/],
    ['enumNames of a titled select', text({ oneOf: [], enumNames: [] }), 'enumNames', /remove it/],
    ['enum and oneOf', { ...list, oneOf: [{ const: 'a', title: 'A' }] }, 'oneOf', /remove it/],
    ['minLength on a select', { ...list, minLength: 1 }, 'minLength', /select field takes/],
    ['empty oneOf', text({ oneOf: [] }), 'oneOf', /1 to 250/],
    ['choice without title', text({ oneOf: [{ const: 'a' }] }), 'oneOf.0.title', /missing/],
    [
      'repeated const',
      text({
        oneOf: [
          { const: 'a', title: 'A' },
          { const: 'a', title: 'B' },
        ],
      }),
      'oneOf.1',
      /repeats/,
    ],
    ['choice with more', text({ oneOf: [{ const: 'a', title: 'A', x: 1 }] }), 'oneOf.0.x', /remove it/],
    ['anyOf on a field', text({ anyOf: [{ type: 'string' }, { type: 'null' }] }), 'anyOf', /use oneOf/],
    ['multi select without items', { type: 'array' }, 'items', /missing/],
    ['items of another type', array({ items: { type: 'number', enum: ['1'] } }), 'items.type', /"string"/],
    ['oneOf in items', array({ items: { oneOf: [] } }), 'items.anyOf', /missing/],
    ['items without choices', array({ items: { type: 'string' } }), 'items.enum', /missing/],
    [
      'items of objects',
      { type: 'array', items: { type: 'object', properties: {} } },
      'items.properties',
      /remove/,
    ],
    ['uniqueItems', array({ items: list, uniqueItems: true }), 'uniqueItems', /never repeats/],
    ['minItems above maxItems', array({ items: list, minItems: 2, maxItems: 1 }), 'minItems', /at most 1/],
    ['minItems above the choices', array({ items: list, minItems: 3 }), 'minItems', /at most 2/],
    [
      'default of another type',
      { type: 'integer', default: '5' },
      'default',
      /does not fit its own field: .*number/,
    ],
    ['default null', text({ default: null }), 'default', /must be a string/],
    ['default below minLength', text({ minLength: 1, default: '' }), 'default', /at least 1/],
    ['default of another format', text({ format: 'date', default: '2026-02-30' }), 'default', /real date/],
    ['default out of range', { type: 'number', maximum: 1, default: 2 }, 'default', /at most 1/],
    ['default no choice', { ...list, default: 'c' }, 'default', /one of the choices/],
    ['default repeats', array({ items: list, default: ['a', 'a'] }), 'default', /once at most/],
  ];
  test.each(refusedFields)('a field: %s', (_, field, keyword, message) => {
    expectIssue(withField(field), keyword === '' ? 'properties.f' : `properties.f.${keyword}`, message);
  });

  const name = (text: string) =>
    JSON.parse(`{"type":"object","properties":{${JSON.stringify(text)}:{"type":"string"}}}`);
  const refusedForms: [string, unknown, string, RegExp][] = [
    ['null', null, '', /object that describes a form/],
    ['a list', [], '', /object that describes a form/],
    ['nothing in it', {}, 'properties', /missing: a form needs type and properties/],
    ['another type', { type: 'array', properties: {} }, 'type', /"object"/],
    ['properties as a list', form([]), 'properties', /one entry for each field/],
    [
      'additionalProperties',
      form({}, { additionalProperties: true }),
      'additionalProperties',
      /must be false/,
    ],
    ['$defs', form({}, { $defs: {} }), '$defs', /remove it: a form takes/],
    ['required as text', form({}, { required: 'a' }), 'required', /list/],
    [
      'required nowhere',
      form({ a: { type: 'string' } }, { required: ['a', 'b'] }),
      'required.1',
      /names no property/,
    ],
    ['required inherited', form({}, { required: ['toString'] }), 'required.0', /names no property/],
    ['required twice', form({ a: { type: 'string' } }, { required: ['a', 'a'] }), 'required.1', /repeats/],
    ['an empty name', name(''), 'properties.', /must have a name/],
    ['a long name', name('n'.repeat(129)), `properties.${'n'.repeat(128)}`, /at most 128/],
    ['a name with a control character', name('a\t'), 'properties.a\ufffd', /control/],
    ['a name with half a character', name('a\ud800'), 'properties.a\ufffd', /Unicode/],
    ['__proto__ as a name', name('__proto__'), 'properties.__proto__', /reserved/],
    ['constructor as a name', name('constructor'), 'properties.constructor', /reserved/],
    ['prototype as a name', name('prototype'), 'properties.prototype', /reserved/],
  ];
  test.each(refusedForms)('a form: %s', (_, input, path, message) => expectIssue(input, path, message));

  test('faults are listed up to a limited number', () => {
    const two = issuesOf(form({ a: { type: 'string', pattern: 'x' }, b: { type: 'nope' } }));
    expect(two.map((issue) => issue.path)).toEqual(['properties.a.pattern', 'properties.b.type']);
    const keywords = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, 1]));
    expect(issuesOf(withField({ type: 'string', ...keywords })).length).toBeLessThanOrEqual(50);
  });
});

describe('properties', () => {
  test('every schema of the subset passes, and its copy passes again unchanged [MCP25-15 MCP26-15]', () => {
    fc.assert(
      fc.property(formSchema, (schema) => {
        const first = checkFormSchema(schema);
        expect(first).toStrictEqual({ ok: true, schema: JSON.parse(JSON.stringify(schema)) });
        expect(checkFormSchema(first.ok && first.schema)).toStrictEqual(first);
      }),
    );
  });

  test('the copy shares nothing with the input', () => {
    fc.assert(
      fc.property(formSchema, (schema) => {
        const check = checkFormSchema(schema);
        const theirs = objectsIn(schema);
        for (const object of objectsIn(check.ok && check.schema)) expect(theirs.has(object)).toBe(false);
      }),
    );
  });

  test('one unknown keyword anywhere is refused and named', () => {
    const ofAnother = fc.constantFrom('pattern', '$ref', 'not', 'allOf', 'nullable', '__proto__', 'toString');
    fc.assert(
      fc.property(formSchema, ofAnother, fc.nat(), (schema, keyword, at) => {
        const names = Object.keys(schema.properties);
        const name = names[at % (names.length + 1)];
        const spoilt = JSON.parse(JSON.stringify(schema)) as FormSchema;
        const target = name === undefined ? spoilt : spoilt.properties[name];
        Object.defineProperty(target, keyword, { value: { polluted: true }, enumerable: true });
        const path = name === undefined ? keyword : `properties.${name}.${keyword}`;
        expect(issuesOf(spoilt).map((issue) => issue.path)).toContain(path);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }),
    );
  });
});

function objectsIn(root: unknown): Set<unknown> {
  const found = new Set<unknown>();
  const waiting = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    found.add(value);
    waiting.push(...Object.values(value));
  }
  return found;
}
