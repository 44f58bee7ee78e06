import { checkFormSchema } from '@parley/core/domain/forms/schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sized } from '../../harness/proof-size.ts';
import { hostile } from './form-arbitraries.ts';

const form = (properties: unknown) => ({ type: 'object', properties });
const withField = (field: unknown) => form({ f: field });

function issuesOf(input: unknown, caps = {}) {
  const check = checkFormSchema(input, caps);
  return check.ok ? [] : check.issues;
}

/** Objects nested without recursion, one key a level. */
function nested(depth: number, key: string): unknown {
  let value: unknown = 'end';
  for (let level = 0; level < depth; level += 1) value = { [key]: value };
  return value;
}

function record(size: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: size }, (_, at) => [`f${at}`, value]));
}

describe('bounds are checked before anything is parsed', () => {
  const cyclic: Record<string, unknown> = form({});
  cyclic.properties = cyclic;
  const ring: unknown[] = [];
  ring.push(ring, ring, ring);
  const twoLevels = { type: 'object', properties: { g: nested(4, 'items') } };

  test.each<[string, unknown, string, RegExp]>([
    ['100,000 levels of objects', nested(100_000, 'properties'), 'properties.properties', /flat/],
    ['100,000 levels in a field', withField(nested(100_000, 'items')), 'properties.f', /flat/],
    ['a nested form', withField(twoLevels), 'properties.f', /flat/],
    ['20,000 properties', form(record(20_000, {})), 'properties', /at most 50 entries; it has 20000/],
    ['51 properties', form(record(51, { type: 'boolean' })), 'properties', /at most 50/],
    ['20,000 keys elsewhere', record(20_000, 1), '', /32768 bytes/],
    ['a text of 5 MB', withField({ type: 'string', title: 'x'.repeat(5_000_000) }), '', /32768 bytes/],
    ['a key of 5 MB', withField({ ['x'.repeat(5_000_000)]: 1 }), '', /32768 bytes/],
    ['four thousand million holes', withField({ enum: new Array(2 ** 32 - 1) }), '', /32768 bytes/],
    ['an object that holds itself', cyclic, 'properties.properties', /flat/],
    ['a list that holds itself', ring, '2.2', /flat/],
  ])('%s', (_, input, path, message) => {
    expect(issuesOf(input)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  test('array holes do not hide the elements before them', () => {
    const sparse = [nested(10, 'a')];
    sparse[2] = 'end';
    expect(issuesOf(withField({ type: 'string', enum: sparse }))[0]?.message).toMatch(/flat/);
  });

  test('the caps are the caller’s to set', () => {
    const wide = form(record(50, { type: 'string', enum: ['a', 'b'], title: 'abc', description: 'abc' }));
    const { length } = JSON.stringify(wide);
    expect(checkFormSchema(wide).ok).toBe(true);
    const exact = { jsonBytes: length, properties: 50, options: 2, titleLength: 3, descriptionLength: 3 };
    expect(checkFormSchema(wide, exact).ok).toBe(true);
    for (const [cap, limit] of Object.entries(exact)) {
      expect(issuesOf(wide, { [cap]: limit - 1 })[0]?.message, cap).toMatch(/at most|1 to 1/);
    }
  });

  test('more than the default can be handled', () => {
    const many = Array.from({ length: 200_000 }, (_, at) => `${at}`);
    const caps = { jsonBytes: 10_000_000, options: many.length };
    expect(checkFormSchema(withField({ type: 'string', enum: many }), caps).ok).toBe(true);
  });

  test('the size is that of the JSON in UTF-8, to the byte', () => {
    const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });
    const awkward = fc.constantFrom('"', '\\', '\n', '\u0001', '\u007f', '\ud800', '\udc00');
    const text = fc.string({ unit: fc.oneof(character, awkward) });
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const leaf = fc.oneof(text, number, fc.boolean(), fc.constant(null));
    const branch = fc.oneof(leaf, fc.array(leaf), fc.dictionary(text, leaf));
    const json = fc.oneof(branch, fc.array(branch), fc.dictionary(text, branch));
    fc.assert(
      fc.property(json, (input) => {
        const bytes = Buffer.byteLength(JSON.stringify(input));
        const tooBig = (jsonBytes: number) =>
          issuesOf(input, { jsonBytes }).some(({ message }) => message.endsWith('bytes of JSON'));
        expect([tooBig(bytes), tooBig(bytes - 1)]).toEqual([false, true]);
      }),
    );
  });
});

describe('arbitrary input', () => {
  const any = hostile('object', 'string', 'array', 'integer', 'type', 'properties', 'enum', 'oneOf', 'items');
  const inputs = fc.oneof(
    any,
    fc.jsonValue(),
    any.map(form),
    any.map(withField),
    any.map((value) => withField({ type: 'string', enum: ['a'], enumNames: value, default: value })),
    any.map((value) => withField({ type: 'array', items: value, minItems: 1 })),
  );

  test('no input throws, and none pollutes a prototype', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const check = checkFormSchema(input);
        expect(check.ok || check.issues.length > 0).toBe(true);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      }),
      { numRuns: sized(500) },
    );
  });

  test('inherited keys and exotic objects are not trusted', () => {
    class Form {
      type = 'object';
      properties = {};
    }
    const inherits: unknown = Object.create(form({}));
    const map = new Map(Object.entries(form({})));
    for (const input of [
      inherits,
      new Form(),
      map,
      () => form({}),
      Symbol('form'),
      1n,
      new Date(Number.NaN),
    ]) {
      expect(checkFormSchema(input).ok).toBe(false);
    }
  });

  test('the copy has one zero, as JSON has', () => {
    const zeros = (zero: number) => ({ minimum: zero, maximum: zero, default: zero });
    const check = checkFormSchema(withField({ type: 'number', ...zeros(-0) }));
    expect(check).toStrictEqual({ ok: true, schema: withField({ type: 'number', ...zeros(0) }) });
  });

  test('an object without a prototype is treated like any other', () => {
    const bare = Object.assign(Object.create(null), withField({ type: 'string' }));
    expect(checkFormSchema(bare)).toStrictEqual({ ok: true, schema: withField({ type: 'string' }) });
  });
});
