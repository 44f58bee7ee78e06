import { checkFormAnswer } from '@parley/shared/domain/forms/answer';
import { checkFormSchema } from '@parley/shared/domain/forms/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importSchema } from '../../../../services/api/src/agents/mcp/questions/import-schema.ts';

const form = (field: unknown, more: object = {}) => ({ type: 'object', properties: { field }, ...more });

function imported(field: unknown): unknown {
  const result = importSchema(form(field));
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
  ])('is imported: %s', (_name, field, expected) => {
    expect(imported(field)).toEqual(expected);
  });

  it.each([
    ['a nested object', form({ type: 'object', properties: {} }), /type must be string/],
    ['a list of free texts', form({ type: 'array', items: { type: 'string' } }), /items/],
    ['an unknown format', form({ type: 'string', format: 'password' }), /format must be email/],
    ['look-around', form({ type: 'string', pattern: '(?=a)' }), /without look-around/],
    ['a back-reference', form({ type: 'string', pattern: '(a)\\1' }), /without look-around/],
    ['a huge pattern', form({ type: 'string', pattern: '(a{0,30}){0,30}' }), /simpler/],
    [
      'a default that does not match its pattern',
      form({ type: 'string', pattern: '^a$', default: 'b' }),
      /default does not fit/,
    ],
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
