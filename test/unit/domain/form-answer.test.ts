import { checkFormAnswer, type FormContent, sameContent } from '@parley/core/domain/forms/answer';
import { checkFormSchema, type FormField, type FormSchema } from '@parley/core/domain/forms/schema';
import type { FormValue } from '@parley/core/domain/forms/value';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sized } from '../../harness/proof-size.ts';
import { answerTo, formSchema, hostile, wrongValueFor } from './form-arbitraries.ts';

function schemaOf(properties: unknown, required: string[] = []): FormSchema {
  const check = checkFormSchema({ type: 'object', properties, required });
  if (!check.ok) throw new Error(JSON.stringify(check.issues));
  return check.schema;
}

/** What is wrong with one value of one field, or nothing. */
function faultOf(field: FormField, value: unknown): string | undefined {
  const check = checkFormAnswer(schemaOf({ f: field }), { f: value });
  if (check.ok) return undefined;
  expect(check.issues).toHaveLength(1);
  expect(check.issues[0]?.path).toBe('f');
  return check.issues[0]?.message;
}

describe('an answer', () => {
  const schema = schemaOf({ name: { type: 'string' }, age: { type: 'integer' } }, ['name']);

  test('is copied with its keys in the order of the schema', () => {
    const content = { age: 5, name: 'Ada' };
    const check = checkFormAnswer(schema, content);
    expect(check).toStrictEqual({ ok: true, content: { name: 'Ada', age: 5 } });
    expect(check.ok && Object.keys(check.content)).toEqual(['name', 'age']);
    expect(check.ok && check.content).not.toBe(content);
  });

  test.each<[string, unknown, string, RegExp]>([
    ['no required field', {}, 'name', /required/],
    ['a required field without a value', { name: undefined }, 'name', /required/],
    ['null where a value belongs', { name: null }, 'name', /string/],
    ['an unknown key', { name: 'Ada', extra: 1 }, 'extra', /not a field/],
    ['a key of Object.prototype', { name: 'Ada', toString: 'x' }, 'toString', /not a field/],
    [
      'an own __proto__',
      JSON.parse('{"name":"Ada","__proto__":{"polluted":true}}'),
      '__proto__',
      /not a field/,
    ],
    ['a key that cannot be shown', { name: 'Ada', 'a\u0000\ud800': 1 }, 'a\ufffd\ufffd', /not a field/],
    ['null', null, '', /object/],
    ['nothing', undefined, '', /object/],
    ['a list', [], '', /object/],
    ['a text', '{"name":"Ada"}', '', /object/],
    ['a map', new Map([['name', 'Ada']]), '', /object/],
    ['inherited values', Object.create({ name: 'Ada' }), '', /object/],
  ])('is refused with %s', (_, content, path, message) => {
    const check = checkFormAnswer(schema, content);
    expect(check.ok ? [] : check.issues).toContainEqual({ path, message: expect.stringMatching(message) });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test('never finds a value on a prototype', () => {
    const check = checkFormAnswer(schemaOf({ valueOf: { type: 'string' } }, ['valueOf']), {});
    expect(check).toEqual({
      ok: false,
      issues: [{ path: 'valueOf', message: 'is required' }],
    });
  });

  test('gets no defaults: a missing field stays missing', () => {
    const preset = schemaOf({
      a: { type: 'string', default: 'x' },
      b: { type: 'boolean' },
    });
    expect(checkFormAnswer(preset, { b: false, a: undefined })).toStrictEqual({
      ok: true,
      content: { b: false },
    });
  });

  test('lists a limited number of faults, however many keys it has', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, at]));
    const check = checkFormAnswer(schema, wide);
    expect(check.ok ? 0 : check.issues.length).toBeLessThanOrEqual(50);
  });

  test('is never repeated in an error', () => {
    const secret = 'canary-7c1f';
    for (const field of [
      { type: 'string', maxLength: 2 },
      { type: 'integer' },
      { type: 'string', enum: ['a'] },
    ] as const) {
      expect(faultOf(field as FormField, secret)).not.toContain(secret);
    }
  });
});

// What each rule takes and refuses is in FORM_FIXTURES, on which the widget and the server agree (unit/widget/fields).
describe('values', () => {
  const text: FormField = { type: 'string' };
  const number: FormField = { type: 'number', minimum: -2.5, maximum: 2.5 };
  const integer: FormField = { type: 'integer' };
  const titledMulti: FormField = { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } };

  test.each<[FormField, unknown]>([
    [text, '\u{1f600}'.repeat(10_000)],
    [text, 'line\r\nline\t\u0001'],
    [number, 2.5],
    [number, 5e-324],
    [integer, Number.MIN_SAFE_INTEGER],
  ])('%j accepts a valid value (%#)', (field, value) => {
    const check = checkFormAnswer(schemaOf({ f: field }), { f: value });
    expect(check).toStrictEqual({ ok: true, content: { f: value } });
  });

  test.each<[FormField, unknown, RegExp]>([
    [text, 5, /string/],
    [text, '\u{1f600}'.repeat(10_001), /at most 10000/],
    [{ type: 'string', maxLength: 20_000 }, 'x'.repeat(10_001), /at most 10000/],
    [number, '5', /number/],
    [number, JSON.parse('1e400'), /number/],
    [number, -2.6, /at least -2.5/],
    [number, 2.6, /at most 2.5/],
    [{ type: 'number' }, 2 ** 53 + 1, /2\^53/],
    [integer, 0.5, /whole/],
    [{ type: 'boolean' }, 'true', /true or false/],
    [titledMulti, 'a', /list/],
    [titledMulti, ['a', 'a'], /at most 1/],
  ])('%j refuses a wrong value (%#)', (field, value, message) => {
    expect(faultOf(field, value)).toMatch(message);
  });

  test('-0 becomes 0', () => {
    for (const field of [{ type: 'number' }, integer] as FormField[]) {
      const check = checkFormAnswer(schemaOf({ f: field }), JSON.parse('{"f":-0}'));
      expect(check.ok && Object.is(check.content.f, 0)).toBe(true);
    }
  });
});

describe('properties', () => {
  const answered = formSchema.chain((schema) => answerTo(schema).map((content) => ({ schema, content })));

  test('a valid answer is accepted unchanged, and again after a round trip through JSON', () => {
    fc.assert(
      fc.property(answered, ({ schema, content }) => {
        const check = checkFormAnswer(schema, content);
        expect(check).toStrictEqual({ ok: true, content: JSON.parse(JSON.stringify(content)) });
        const copy = check.ok ? check.content : {};
        const again = checkFormAnswer(schema, JSON.parse(JSON.stringify(copy)));
        expect(again).toStrictEqual(check);
        expect(again.ok && sameContent(again.content, copy)).toBe(true);
        const order = Object.keys(schema.properties).filter((name) => Object.hasOwn(content, name));
        expect(Object.keys(copy)).toEqual(order);
      }),
    );
  });

  test('an answer with one wrong value is refused, and the field named', () => {
    const spoilt = answered
      .filter(({ schema }) => Object.keys(schema.properties).length > 0)
      .chain(({ schema, content }) =>
        fc
          .constantFrom(...Object.entries(schema.properties))
          .chain(([name, field]) => wrongValueFor(field).map((value) => ({ schema, content, name, value }))),
      );
    fc.assert(
      fc.property(spoilt, ({ schema, content, name, value }) => {
        const check = checkFormAnswer(schema, { ...content, [name]: value });
        expect(check.ok ? [] : check.issues.map((issue) => issue.path)).toEqual([name]);
      }),
      { numRuns: sized(500) },
    );
  });

  test('no content throws, and none pollutes a prototype', () => {
    const exotic = hostile('a', 'b', 'c', 'x', 'y');
    const cyclic: Record<string, unknown> = {};
    cyclic.a = cyclic;
    const fields = schemaOf({
      a: { type: 'string', format: 'uri' },
      b: { type: 'number' },
      c: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
    });
    const record = fc.record({ a: exotic, b: exotic, c: exotic }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.oneof(exotic, fc.jsonValue(), record, fc.constant(cyclic)), (content) => {
        const check = checkFormAnswer(fields, content);
        expect(check.ok || check.issues.length > 0).toBe(true);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }),
      { numRuns: sized(500) },
    );
  });
});

describe('sameContent', () => {
  const value = fc.constantFrom<FormValue>('', '0', 0, false, [], ['x'], ['x', 'y'], ['y', 'x']);
  const small: fc.Arbitrary<FormContent> = fc.record({ a: value, toString: value }, { requiredKeys: [] });
  const written = (content: FormContent) =>
    JSON.stringify(Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1)));

  test('returns whether two answers are equal, whatever the order of their keys', () => {
    fc.assert(
      fc.property(small, small, (a, b) => {
        expect(sameContent(a, b)).toBe(written(a) === written(b));
        expect(sameContent(b, a)).toBe(sameContent(a, b));
      }),
      { numRuns: sized(1000) },
    );
  });
});
