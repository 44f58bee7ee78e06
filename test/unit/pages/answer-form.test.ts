import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { controlsOf } from '@parley/core/domain/forms/controls';
import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';
import type { FormField, FormValue } from '@parley/core/domain/forms/value';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPostedForm } from '../../../services/api/src/pages/answer/posted-form.ts';
import { controlName } from '../../../services/api/src/pages/views/answer/controls.ts';

const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const words = fc.uniqueArray(fc.string({ maxLength: 8 }), { minLength: 1, maxLength: 5 });
/** A field, and a value that it accepts. */
const answeredField: fc.Arbitrary<[FormField, FormValue]> = fc.oneof(
  fc.tuple(fc.constant<FormField>({ type: 'string' }), word),
  fc.tuple(fc.constant<FormField>({ type: 'string', format: 'date' }), fc.constant('2026-03-01')),
  fc.tuple(fc.constant<FormField>({ type: 'boolean' }), fc.boolean()),
  fc.tuple(fc.constant<FormField>({ type: 'integer' }), fc.maxSafeInteger()),
  fc.tuple(
    fc.constant<FormField>({ type: 'number' }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
  ),
  words.chain((values) =>
    fc.tuple(fc.constant<FormField>({ type: 'string', enum: values }), fc.constantFrom(...values)),
  ),
  words.chain((values) =>
    fc.tuple(
      fc.constant<FormField>({
        type: 'array',
        items: { anyOf: values.map((one) => ({ const: one, title: one || '-' })) },
      }),
      fc.subarray(values, { minLength: 1 }),
    ),
  ),
);
const answeredForm = fc.dictionary(
  fc.stringMatching(/^[a-z_]{1,8}$/),
  fc.tuple(answeredField, fc.boolean()),
  { maxKeys: 8 },
);

/** What a browser posts for a value. */
function post(form: URLSearchParams, at: number, field: FormField, value: FormValue): void {
  const choices = controlsOf({ properties: { field } }).flatMap((control) => control.choices);
  const shown = (one: FormValue) =>
    choices.length > 0
      ? String(choices.findIndex((choice) => choice.value === one))
      : String(one).replace(/\n/g, '\r\n');
  for (const one of [value].flat()) form.append(controlName(at), shown(one));
}

describe('a posted form', () => {
  it('that does not match the pattern of a field is not taken', () => {
    const schema: FormSchema = {
      type: 'object',
      properties: { code: { type: 'string', pattern: '^[A-Z]{3}$' } },
    };
    const read = (code: string) => readPostedForm(schema, new URLSearchParams({ [controlName(0)]: code }));
    expect(read('ABC')).toEqual({ ok: true, content: { code: 'ABC' } });
    const refused = new Map([['code', { rule: 'pattern' }]]);
    for (const code of ['abc', 'ABCD', 'A'.repeat(1_001)])
      expect(read(code)).toEqual({ ok: false, faults: refused });
  });

  it('is the answer that the person gave, whatever the form', () => {
    fc.assert(
      fc.property(answeredForm, (fields) => {
        const names = Object.keys(fields).filter(
          (name) => !['__proto__', 'constructor', 'prototype'].includes(name),
        );
        const properties = Object.fromEntries(names.map((name) => [name, fields[name]?.[0][0]]));
        const content = Object.fromEntries(names.map((name) => [name, fields[name]?.[0][1]]));
        const required = names.filter((name) => fields[name]?.[1]);
        const schema = checkFormSchema({ type: 'object', properties, required });
        fc.pre(schema.ok);
        const known = checkFormAnswer(schema.schema, content);
        fc.pre(known.ok);
        const posted = new URLSearchParams();
        for (const [at, name] of names.entries())
          post(posted, at, schema.schema.properties[name] as FormField, known.content[name] as FormValue);
        // As over the network.
        const arrived = new URLSearchParams(posted.toString());
        expect(readPostedForm(schema.schema, arrived)).toEqual({ ok: true, content: known.content });
      }),
    );
  });

  const schema = (field: FormField, isRequired = false): FormSchema => ({
    type: 'object',
    properties: { field },
    ...(isRequired && { required: ['field'] }),
  });
  const read = (field: FormField, values: readonly string[], isRequired = false) => {
    const result = readPostedForm(
      schema(field, isRequired),
      new URLSearchParams(values.map((value) => ['field-0', value])),
    );
    return result.ok ? result.content.field : result.faults.get('field')?.rule;
  };

  it('leaves out what is empty, and refuses that where it is required', () => {
    const kinds: FormField[] = [
      { type: 'string' },
      { type: 'string', format: 'email' },
      { type: 'integer' },
      { type: 'boolean' },
      { type: 'string', enum: ['', 'a'] },
    ];
    for (const field of kinds) {
      for (const values of [[], ['']]) {
        expect(read(field, values)).toBeUndefined();
        expect(read(field, values, true)).toBe('required');
      }
    }
    const several: FormField = { type: 'array', items: { type: 'string', enum: ['a'] } };
    expect(read(several, [])).toBeUndefined();
    expect(read(several, [], true)).toEqual([]);
  });

  it('refuses what no control of ours would post', () => {
    const one: FormField = { type: 'string', enum: ['a', 'b'] };
    const several: FormField = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } };
    for (const value of ['2', '-1', 'a', '0x1', '1e0', '00000']) expect(read(one, [value])).not.toBe('a');
    expect(read(several, ['0', '0'])).toBe('once');
    expect(read(several, ['0', '9'])).toBe('offered');
    expect(read({ type: 'boolean' }, ['yes'])).toBe('boolean');
    expect(read({ type: 'integer' }, ['1.5'])).toBe('integer');
    expect(read({ type: 'number' }, ['1,5'])).toBe('number');
    expect(read({ type: 'number' }, ['0x10'])).toBe('number');
  });
});
