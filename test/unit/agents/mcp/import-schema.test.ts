import { checkFormAnswer } from '@parley/shared/domain/forms/answer';
import { checkFormSchema } from '@parley/shared/domain/forms/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importSchema } from '../../../../services/api/src/agents/mcp/questions/import-schema.ts';
import { answerFor, readQuestion } from '../../../../services/api/src/agents/mcp/questions/question.ts';

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
    const required = ['size', 'nick', 'constructor', 'nothing'];
    const question = readQuestion(
      { message: 'Which?', requestedSchema: { type: 'object', properties, required } },
      { form: true, url: false },
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
  ])('is refused, because an answer could be wrong: %s', (_name, schema) => {
    expect(refusal({ ...schema, required: ['field'] })).not.toBe('accepted');
  });

  it.each([
    ['a nested object', form({ type: 'object', properties: {} }), /type must be string/],
    ['a list of free texts', form({ type: 'array', items: { type: 'string' } }), /items/],
    ['an unknown format', form({ type: 'string', format: 'password' }), /format must be email/],
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
