import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { checkFormSchema } from '@parley/core/domain/forms/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importSchema as importFor } from '../../../../services/api/src/agents/mcp/questions/import-schema.ts';
import { answerFor, readQuestion } from '../../../../services/api/src/agents/mcp/questions/question.ts';

const BOTH = { form: true, url: true };
const importSchema = (schema: unknown) => importFor(schema, 'Which?');
const form = (field: unknown, more: object = {}) => ({ type: 'object', properties: { field }, ...more });

const DEFINITIONS = {
  $defs: { mail: { type: 'string', format: 'email' }, letters: { enum: ['a', 'b'] } },
  definitions: { 'a/b': { enum: ['a', 'b'] } },
};

function imported(field: unknown): unknown {
  const result = importSchema(form(field, DEFINITIONS));
  if (!result.ok) throw new Error(result.message);
  return result.schema.properties.field;
}

function refusal(schema: unknown): string {
  const result = importSchema(schema);
  return result.ok ? 'accepted' : result.message;
}

describe('the schema of a server', () => {
  it.each([
    ['titled choices by oneOf', { type: 'string', oneOf: [{ const: 'a', title: 'A' }], default: 'a' }],
    ['enum with enumNames', { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] }],
    ['a pattern', { type: 'string', pattern: '^[A-Z]{3}$' }],
    ['bounds and defaults', { type: 'number', minimum: 0, maximum: 9, default: 1 }],
  ])('is imported as it is: %s', (_name, field) => {
    expect(imported(field)).toEqual(field);
  });

  const LETTERS = { type: 'string', enum: ['a', 'b'] };
  const EMAIL = { type: 'string', format: 'email' };
  const withDefaultB = { ...LETTERS, default: 'b' };
  const whole = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum });
  const titledSelect = (...values: string[]) => ({
    type: 'string',
    oneOf: values.map((value) => ({ const: value, title: value })),
  });
  it.each([
    [
      'titled choices by anyOf, and a choice without a title',
      { type: 'string', anyOf: [{ const: 'a' }] },
      { type: 'string', oneOf: [{ const: 'a', title: 'a' }] },
    ],
    [
      'a multi-select',
      { type: 'array', items: LETTERS, minItems: 1, uniqueItems: true, default: ['a'] },
      { type: 'array', items: LETTERS, minItems: 1, default: ['a'] },
    ],
    [
      'a titled multi-select by anyOf and by oneOf',
      { type: 'array', items: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] } },
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    ],
    [
      'examples, as part of the description',
      { type: 'string', description: 'Your city.', examples: ['Bern', 'Rome', { no: 1 }] },
      { type: 'string', description: 'Your city. For example: Bern, Rome' },
    ],
    [
      'examples alone',
      { type: 'integer', examples: [3] },
      { type: 'integer', description: 'For example: 3' },
    ],
    [
      'a format with a generated pattern, which is left out',
      { type: 'string', format: 'email', pattern: '^(?!\\.)(?!.*\\.\\.)x$' },
      { type: 'string', format: 'email' },
    ],
    ['exclusive bounds', { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 2.5 }, whole(1, 2)],
    [
      'exclusive bounds of numbers with decimals, as draft 4 writes them, too',
      { type: 'number', minimum: 0, exclusiveMinimum: true, exclusiveMaximum: 1 },
      { type: 'number', minimum: 5e-324, maximum: 1 - 2 ** -53, description: 'Less than 1.' },
    ],
    [
      'the stronger of two bounds',
      { type: 'integer', minimum: 5, exclusiveMinimum: 2, maximum: 9 },
      whole(5, 9),
    ],
    ['whole numbers written as steps', { type: 'number', multipleOf: 1 }, { type: 'integer' }],
    [
      'steps',
      { type: 'number', multipleOf: 0.1 },
      { type: 'number', multipleOf: 0.1, description: 'A multiple of 0.1.' },
    ],
    ['a constant', { const: 'a' }, { type: 'string', enum: ['a'] }],
    ['choices without a type', { enum: ['a', 'b'], title: 'Letter' }, { ...LETTERS, title: 'Letter' }],
    ['a union of literals', { anyOf: [{ const: 'a' }, { enum: ['b'] }] }, titledSelect('a', 'b')],
    ['names of another number than choices', { ...LETTERS, enumNames: ['A'] }, LETTERS],
    [
      'null or a text',
      { anyOf: [{ type: 'string', format: 'email' }, { type: 'null' }], default: null },
      EMAIL,
    ],
    ['null as a type', { type: ['string', 'null'], format: 'email' }, EMAIL],
    ['null among choices', { enum: ['a', 'b', null], type: ['string', 'null'] }, LETTERS],
    ['the keyword nullable', { type: 'string', format: 'email', nullable: true }, EMAIL],
    ['a definition', { $ref: '#/$defs/mail', title: 'Mail' }, { ...EMAIL, title: 'Mail' }],
    ['a definition in a wrapper', { allOf: [{ $ref: '#/definitions/a~1b' }], default: 'b' }, withDefaultB],
    [
      'items by definition',
      { type: 'array', items: { $ref: '#/$defs/letters' } },
      { type: 'array', items: LETTERS },
    ],
    ['unknown annotations', { type: 'string', 'x-order': 1, contentEncoding: 'base64' }, { type: 'string' }],
    ['limits of other types', { type: 'string', minimum: 3, items: {} }, { type: 'string' }],
    [
      'an unknown format, and its pattern',
      { type: 'string', format: 'uuid', pattern: '^[0-9a-f-]+$' },
      { type: 'string', pattern: '^[0-9a-f-]+$' },
    ],
    [
      'choices within other limits',
      { type: 'integer', enum: ['1', 1, 2], minimum: 2 },
      { type: 'string', enum: ['2'] },
    ],
    [
      'choices named twice',
      { const: 'a', enum: ['a', 'b'], type: 'string' },
      { type: 'string', enum: ['a'] },
    ],
    [
      'choices of alternatives within their types',
      { type: 'string', anyOf: [{ const: 1 }, { const: 'b', type: 'string' }], enum: ['b', 'c'] },
      titledSelect('b'),
    ],
    [
      'a description without examples that it has no room for',
      { type: 'string', description: 'd'.repeat(4_090), examples: ['Bern', 'a\u0000'] },
      { type: 'string', description: 'd'.repeat(4_090) },
    ],
    ['a default outside the choices', { ...LETTERS, default: 'c' }, LETTERS],
    [
      'a default that does not match its pattern',
      { type: 'string', pattern: '^a$', default: 'b' },
      { type: 'string', pattern: '^a$' },
    ],
  ])('is imported: %s', (_name, field, expected) => {
    expect(imported(field)).toEqual(expected);
  });

  it('gets the answer as it describes it', () => {
    const properties = {
      size: { type: 'integer', enum: [1, 2], default: 2 },
      on: { const: true, title: 'On' },
      rates: { type: 'array', items: { enum: [0.5, 'none'] } },
      nick: { type: ['string', 'null'] },
      note: { type: ['string', 'null'] },
      constructor: { type: 'string' },
    };
    const required = ['size', 'nick', 'constructor'];
    const question = readQuestion(
      { message: 'Which?', requestedSchema: { type: 'object', properties, required } },
      BOTH,
    );
    if (question.mode !== 'form') throw new Error('This is no form.');
    expect(question.requestedSchema).toEqual({
      type: 'object',
      properties: {
        size: { type: 'string', enum: ['1', '2'], default: '2' },
        on: { type: 'string', title: 'On', enum: ['true'] },
        rates: { type: 'array', items: { type: 'string', enum: ['0.5', 'none'] } },
        nick: { type: 'string' },
        note: { type: 'string' },
        constructor_: { type: 'string', title: 'constructor' },
      },
      required: ['size', 'constructor_'],
    });
    const content = { size: '2', on: 'true', rates: ['none', '0.5'], constructor_: 'Ada' };
    expect(checkFormAnswer(question.requestedSchema, content)).toMatchObject({ ok: true });
    expect(answerFor(question, { status: 'accepted', content })).toEqual({
      action: 'accept',
      content: { size: 2, on: true, rates: ['none', 0.5], nick: null, constructor: 'Ada' },
    });
  });

  it.each([
    ['a type beside choices without null', { type: ['string', 'null'], enum: ['a', 'b'] }, true],
    ['a choice of another type', { type: 'string', enum: ['a', null] }, true],
    ['a wrapper whose schema takes none', { nullable: true, type: 'string', allOf: [{ enum: ['a'] }] }, true],
    ['two of the alternatives', { oneOf: [{ type: ['string', 'null'] }, { type: 'null' }] }, true],
    ['every part', { type: ['string', 'null'], enum: ['a', null] }, false],
  ])('is answered with null only where it takes null: %s', (_name, field, isNeeded) => {
    const result = importSchema(form(field, { required: ['field'] }));
    expect(result).toMatchObject({ ok: true, schema: { required: isNeeded ? ['field'] : [] } });
    expect('restores' in result).toBe(!isNeeded);
  });

  it('is answered with null for a required field that cannot be shown', () => {
    const properties = { name: { type: 'string' }, owner: { anyOf: [{ type: 'object' }, { type: 'null' }] } };
    const schema = { type: 'object', properties, required: ['owner'] };
    const question = readQuestion({ message: 'Who?', requestedSchema: schema }, BOTH);
    expect(answerFor(question, { status: 'accepted', content: { name: 'Ada' } })).toEqual({
      action: 'accept',
      content: { name: 'Ada', owner: null },
    });
  });

  it('leaves out an optional field that cannot be shown, and says which and why', () => {
    const properties = { name: { type: 'string' }, owner: { type: 'object', properties: {} } };
    const whole = { type: 'object', description: 'Of the release.', properties };
    expect(importSchema({ ...whole, required: ['name'] })).toEqual({
      ok: true,
      schema: {
        type: 'object',
        description: expect.stringMatching(/^Of the release\.\n.*owner \(must be string, number, .*flat/),
        properties: { name: { type: 'string' } },
        required: ['name'],
      },
    });
    expect(refusal({ ...whole, required: ['owner'] })).toMatch(/properties\.owner\.type must be string/);
  });

  const simple = { type: 'string' };
  it.each([
    ['a name of a secret', { api_key: { type: 'object' } }, /api_key/],
    ['a name that forms refuse', { ['n'.repeat(129)]: simple }, /its name must be at most 128/],
    ['a pattern without room', { x: { type: 'string', pattern: '^[a-z]{300}$' } }, /x \(must be simpler/],
  ])('leaves out alone what has %s', (_name, fields, note) => {
    const code = { type: 'string', pattern: '^[A-Z]{300}$' };
    const schema = { type: 'object', properties: { ...fields, code }, required: ['code'] };
    expect(readQuestion({ message: 'Which?', requestedSchema: schema }, BOTH)).toMatchObject({
      requestedSchema: { description: expect.stringMatching(note), properties: { code } },
    });
  });

  it('has a note of what is left out beside a description of any length', () => {
    const properties = {
      name: simple,
      ...Object.fromEntries(Array.from({ length: 49 }, (_, at) => [`f${at}`, {}])),
    };
    for (const length of [0, 3_000, 4_096]) {
      const result = importSchema({ type: 'object', properties, description: 'd'.repeat(length) });
      if (!result.ok) throw new Error(result.message);
      expect(result.schema.description).toMatch(/Not asked here, because it cannot be shown: f0 \(.*…$/);
      expect(result.schema.description?.length).toBeLessThanOrEqual(4_096);
    }
  });

  it('may be a definition of itself, whose references end', () => {
    const $defs = { form: form({ $ref: '#/$defs/mail' }), mail: EMAIL, loop: { $ref: '#/$defs/loop' } };
    expect(importSchema({ $ref: '#/$defs/form', $defs })).toMatchObject({
      ok: true,
      schema: { properties: { field: EMAIL } },
    });
    expect(refusal(form({ $ref: '#/$defs/loop' }, { $defs }))).toMatch(/references are not supported/);
  });

  it.each([
    ['a condition of the form', form({ type: 'string' }, { if: {}, else: {} })],
    ['alternatives of the form', form({ type: 'string' }, { anyOf: [{ required: ['field'] }, {}] })],
    ['a condition of a field', form({ type: 'string', not: { const: 'a' } })],
    ['a union of types', form({ type: ['string', 'integer'] })],
    ['choices that are one text', form({ enum: [1, '1'] })],
    ['steps that no bound allows', form({ type: 'integer', minimum: 1, maximum: 4, multipleOf: 5 })],
    ['two values of a limit', form({ $ref: '#/$defs/mail', format: 'uri' }, DEFINITIONS)],
    ['two lists of choices', form({ allOf: [{ enum: ['a'] }], enum: ['a', 'b'] })],
    [
      'two limits of items',
      form({ type: 'array', items: { $ref: '#/$defs/letters', enum: ['a'] } }, DEFINITIONS),
    ],
    ['a condition of items', form({ type: 'array', items: { enum: ['a', 'b'], not: { const: 'a' } } })],
    ['a condition of an alternative', form({ anyOf: [{ const: 'a' }, { const: 'b', not: {} }] })],
    ['choices of another type', form({ type: 'integer', enum: ['1', '2'] })],
    ['a required name without a field', form({ type: 'string' }, { required: ['other'] })],
    ...['dependencies', 'minProperties', 'maxProperties', 'propertyNames', 'patternProperties'].map(
      (key): [string, object] => [`${key} of the form`, form({ type: 'string' }, { [key]: {} })],
    ),
  ])('is refused, because an answer could be wrong: %s', (_name, schema) => {
    expect(refusal({ required: ['field'], ...schema })).not.toBe('accepted');
  });

  it.each([
    ['a nested object', form({ type: 'object', properties: {} }), /type must be string/],
    ['a list of free texts', form({ type: 'array', items: { type: 'string' } }), /items/],
    ['look-around', form({ type: 'string', pattern: '(?=a)' }), /without look-around/],
    ['a back-reference', form({ type: 'string', pattern: '(a)\\1' }), /without look-around/],
    ['a huge pattern', form({ type: 'string', pattern: '(a{0,30}){0,30}' }), /simpler/],
    ['a reference', form({ $ref: '#/x' }), /references are not supported/],
    ['no properties', { type: 'object' }, /properties is missing/],
    ['nothing', undefined, /must be an object/],
    ['a list', [], /must be an object/],
    [
      'too many fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, { type: 'string' }])),
      },
      /at most 50/,
    ],
    ['a huge text', form({ type: 'string', description: 'x'.repeat(100_000) }), /bytes of JSON/],
  ])('is refused with the reason: %s', (_name, schema, reason) => {
    expect(refusal(schema)).toMatch(reason);
  });

  it.each([
    ['fields', (many: object) => ({ type: 'object', properties: many }), /at most 50/],
    ['choices', (many: object) => form({ type: 'string', oneOf: Object.values(many) }), /bytes of JSON/],
    ['keywords', (many: object) => form(many), /bytes of JSON/],
    ['deep examples', (many: object) => form({ type: 'string', examples: many }), /bytes of JSON/],
  ])('is measured before it is rewritten: 200,000 %s', (_what, schemaOf, reason) => {
    let reads = 0;
    const choice = { const: 'a', title: 'A' };
    const read = () => {
      reads += 1;
      return 'string';
    };
    Object.defineProperty(choice, 'type', { enumerable: true, get: read });
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`f${at}`, choice]));
    expect(refusal(schemaOf(many))).toMatch(reason);
    expect(reads).toBeLessThan(1_000);
  });

  it('is read once, however often its definitions are referred to', () => {
    let reads = 0;
    const large = Object.defineProperties(
      { type: 'string' },
      Object.fromEntries(
        Array.from({ length: 8_000 }, (_, at) => [
          `k${at}`,
          {
            enumerable: true,
            get: () => {
              reads += 1;
              return 1;
            },
          },
        ]),
      ),
    );
    const $defs = {
      d0: { allOf: [{ $ref: '#/$defs/d1' }] },
      d1: { anyOf: [{ $ref: '#/$defs/d2' }] },
      d2: large,
    };
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`f${at}`, { $ref: '#/$defs/d0' }]),
    );
    expect(importSchema({ type: 'object', properties, $defs })).toMatchObject({ ok: true });
    // To be measured.
    expect(reads).toBe(8_000);
  });

  it('never throws, and gives a schema of the subset or a reason', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.anything().map((field) => form(field)),
        ),
        (raw) => {
          const result = importSchema(raw);
          if (!result.ok) expect(result.message).not.toBe('');
          else
            expect(checkFormSchema(result.schema, {}, { patterns: true })).toEqual({
              ok: true,
              schema: result.schema,
            });
        },
      ),
    );
  });
});

it('a step decides whether an answer is valid, also with decimals', () => {
  const result = importSchema(form({ type: 'number', multipleOf: 0.1 }));
  if (!result.ok) throw new Error(result.message);
  const { schema } = result;
  for (const value of [0, 0.3, -7.7, 123_456.7])
    expect(checkFormAnswer(schema, { field: value })).toMatchObject({ ok: true });
  expect(checkFormAnswer(schema, { field: 0.35 })).toMatchObject({
    issues: [{ path: 'field', message: 'must be a multiple of 0.1' }],
  });
  expect(checkFormSchema(form({ type: 'number', multipleOf: 2 }))).toMatchObject({ ok: false });
});

describe('a pattern', () => {
  const schema = () => {
    const result = importSchema(form({ type: 'string', pattern: '[A-Z]{2}\\d+' }));
    if (!result.ok) throw new Error(result.message);
    return result.schema;
  };

  it('decides whether an answer is valid', () => {
    expect(checkFormAnswer(schema(), { field: 'x AB12 y' })).toMatchObject({ ok: true });
    expect(checkFormAnswer(schema(), { field: 'ab12' })).toEqual({
      ok: false,
      issues: [{ path: 'field', message: 'must match [A-Z]{2}\\d+' }],
    });
  });

  it('that backtracks for ever elsewhere is answered at once', () => {
    const result = importSchema(form({ type: 'string', pattern: '^(a+)+$' }));
    if (!result.ok) throw new Error(result.message);
    expect(checkFormAnswer(result.schema, { field: `${'a'.repeat(999)}b` })).toMatchObject({ ok: false });
    expect(checkFormAnswer(result.schema, { field: 'a'.repeat(5_000) })).toMatchObject({
      issues: [{ message: 'must be at most 1000 characters' }],
    });
  });

  it('is refused in a schema of the API, as before', () => {
    expect(checkFormSchema(form({ type: 'string', pattern: 'a' }))).toMatchObject({ ok: false });
  });
});
