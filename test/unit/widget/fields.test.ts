import { checkFormAnswer } from '@parley/core/domain/forms/answer';
import { controlsOf, type FormControl } from '@parley/core/domain/forms/controls';
import { textOfFault } from '@parley/core/domain/forms/fault';
import { checkFormSchema, type FormSchema } from '@parley/core/domain/forms/schema';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Draft,
  draftIn,
  type FormReading,
  readDrafts,
  valueFrom,
} from '../../../clients/widget/src/form/drafts.ts';
import { sized } from '../../harness/proof-size.ts';
import { answerTo, formSchema, valueFor, wrongValueFor } from '../domain/form-arbitraries.ts';
import { FORM_FIXTURES } from '../domain/form-fixtures.ts';
import { FORMAT_SAMPLES } from '../domain/form-samples.ts';

type Drafts = ReadonlyMap<string, Draft>;

function schemaOf(properties: unknown, required: string[] = []): FormSchema {
  const check = checkFormSchema({ type: 'object', properties, required });
  if (!check.ok) throw new Error(JSON.stringify(check.issues));
  return check.schema;
}

/** The server's verdict on what the drafts stand for, good or bad, after its way over the wire. */
function verdictOf(schema: FormSchema, drafts: Drafts) {
  const values = controlsOf(schema).map((field) => [field.name, valueFrom(field, draftIn(drafts, field))]);
  return checkFormAnswer(schema, JSON.parse(JSON.stringify(Object.fromEntries(values))));
}

/** Both judge alike: the same content, or faults at the same fields. */
function expectAgreement(schema: FormSchema, drafts: Drafts): FormReading {
  const fields = controlsOf(schema);
  const reading = readDrafts(fields, drafts);
  const verdict = verdictOf(schema, drafts);
  if (reading.ok) {
    const sent: unknown = JSON.parse(JSON.stringify(reading.content));
    expect(checkFormAnswer(schema, sent)).toEqual({ ok: true, content: reading.content });
    expect(verdict).toEqual({ ok: true, content: reading.content });
    return reading;
  }
  expect(verdict.ok ? [] : verdict.issues.map(({ path }) => path)).toEqual([...reading.faults.keys()]);
  for (const { path, message } of verdict.ok ? [] : verdict.issues) {
    const fault = reading.faults.get(path);
    const { kind } = fields.find(({ name }) => name === path) ?? {};
    // Of a number that cannot be read the widget knows more than the server, which sees a text.
    if (kind === 'number' || kind === 'integer') continue;
    expect(fault && fault.rule !== 'comma' && textOfFault(fault)).toBe(message);
  }
  return reading;
}

describe('a form filled in', () => {
  it.each(FORM_FIXTURES)('with $what', ({ field, required = false, typed, answered, fault }) => {
    const schema = schemaOf({ f: field }, required ? ['f'] : []);
    const reading = expectAgreement(schema, typed === undefined ? new Map() : new Map([['f', typed]]));
    if (fault === undefined) {
      expect(reading).toStrictEqual({ ok: true, content: answered === undefined ? {} : { f: answered } });
    } else {
      expect(reading.ok ? undefined : reading.faults.get('f')?.rule).toBe(fault);
    }
  });

  it('names every field with a fault, in the order of the form', () => {
    const schema = schemaOf({ z: { type: 'integer' }, a: { type: 'string' }, m: { type: 'number' } }, [
      'z',
      'm',
    ]);
    const reading = expectAgreement(schema, new Map([['m', 'x']]));
    expect(reading.ok ? [] : [...reading.faults.keys()]).toEqual(['z', 'm']);
  });
});

const typedNumber = fc.oneof(
  fc.double().map(String),
  fc.maxSafeInteger().map((value) => `${value}.0`),
  fc.stringMatching(/^[ +-]?[0-9]{0,17}[.,]?[0-9]{0,3}(e[+-]?[0-9]{1,3})?$/),
);
const typedTime = fc.stringMatching(
  /^20[0-9]{2}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9](:[0-5][0-9])?$/,
);

/** Anything a control can hold, right or wrong. */
function draftFor(field: FormControl): fc.Arbitrary<Draft> {
  const choices = field.choices.map(({ value }) => value);
  const fitting = valueFor(field.schema).map((value) => (typeof value === 'number' ? String(value) : value));
  switch (field.kind) {
    case 'boolean':
      return fc.constantFrom(undefined, true, false);
    case 'select':
      return fc.constantFrom(undefined, ...choices, 'no such choice');
    case 'multi':
      return fc.oneof(fc.constant([]), fitting, fc.array(fc.constantFrom(...choices, 'no such choice')));
    case 'number':
    case 'integer':
      return fc.oneof(fc.constant(''), fitting, typedNumber, fc.string());
    default: {
      const wrong = wrongValueFor(field.schema).map((value) => (typeof value === 'string' ? value : 'x'));
      return fc.oneof(fc.constant(''), fitting, wrong, typedTime, fc.string({ unit: 'binary' }));
    }
  }
}

function draftsFor(schema: FormSchema): fc.Arbitrary<Drafts> {
  const entries = controlsOf(schema).map((field) =>
    fc.tuple(fc.constant(field.name), draftFor(field), fc.boolean()),
  );
  return fc
    .tuple(...entries)
    .map(
      (drafts) => new Map(drafts.filter(([, , touched]) => touched).map(([name, draft]) => [name, draft])),
    );
}

describe('properties', () => {
  it('what the widget sends, the server takes; what the widget refuses, the server refuses', () => {
    const seen = { sent: 0, refused: 0 };
    const runs = sized(1_500);
    const filled = formSchema.chain((schema) => draftsFor(schema).map((drafts) => ({ schema, drafts })));
    fc.assert(
      fc.property(filled, ({ schema, drafts }) => {
        seen[expectAgreement(schema, drafts).ok ? 'sent' : 'refused'] += 1;
      }),
      { numRuns: runs },
    );
    // More than a third of the runs are refused; a tenth is ten standard deviations below that in the daily run.
    expect(Math.min(seen.sent, seen.refused)).toBeGreaterThan(runs / 10);
  });

  it('a fitting answer can be typed, and arrives as it is', () => {
    const answered = formSchema.chain((schema) => answerTo(schema).map((content) => ({ schema, content })));
    fc.assert(
      fc.property(answered, ({ schema, content }) => {
        const fields = controlsOf(schema);
        // Nothing typed is no text; the controls cannot tell an empty optional list from none.
        const blank = fields.filter(({ kind, name, isRequired }) =>
          kind === 'multi'
            ? !isRequired && `${content[name]}` === ''
            : kind === 'text' && content[name] === '',
        );
        fc.pre(blank.length === 0 && fields.every(({ initial }) => initial !== ''));
        const drafts = fields.map(({ name, kind }): [string, Draft] => {
          const value = Object.hasOwn(content, name) ? content[name] : undefined;
          return [
            name,
            typeof value === 'number'
              ? String(value)
              : (value ?? (['boolean', 'select', 'multi'].includes(kind) ? undefined : '')),
          ];
        });
        const reading = readDrafts(fields, new Map(drafts));
        expect(reading.ok).toBe(true);
        const sorted = (value: unknown) => (Array.isArray(value) ? [...value].sort() : value);
        for (const name of Object.keys(schema.properties)) {
          const got = reading.ok && Object.hasOwn(reading.content, name) ? reading.content[name] : undefined;
          const want = Object.hasOwn(content, name) ? content[name] : undefined;
          expect(sorted(got)).toEqual(sorted(Object.is(want, -0) ? 0 : want));
        }
      }),
      { numRuns: sized(500) },
    );
  });

  it('no schema makes it throw', () => {
    const hostile = fc.oneof(
      fc.anything(),
      fc.record({ properties: fc.dictionary(fc.string(), fc.anything()) }),
    );
    const typed = fc.dictionary(
      fc.string(),
      fc.record(
        {
          type: fc.constantFrom('string', 'array', 'number'),
          enum: fc.option(fc.anything()),
          format: fc.constantFrom('email', 'colour'),
          default: fc.anything(),
          items: fc.anything(),
        },
        {
          requiredKeys: ['type'],
        },
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          hostile,
          typed.map((properties) => ({ properties })),
        ),
        (schema) => {
          readDrafts(controlsOf(schema), new Map());
        },
      ),
      { numRuns: sized(500) },
    );
  });
});

describe('the controls', () => {
  it('carry title, description, bounds and names of choices', () => {
    const [text, number, plain, titled, legacy, many] = controlsOf(
      schemaOf({
        text: { type: 'string', title: 'Text', description: 'Any', minLength: 1, maxLength: 9 },
        number: { type: 'number', minimum: 0, maximum: 2 },
        plain: { type: 'string', enum: ['a'] },
        titled: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
        legacy: { type: 'string', enum: ['a', 'b'], enumNames: ['A', ''] },
        many: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, minItems: 0, maxItems: 1 },
      }),
    );
    expect(text).toMatchObject({
      kind: 'text',
      label: 'Text',
      description: 'Any',
      least: 1,
      most: 9,
    });
    expect(number).toMatchObject({ kind: 'number', label: 'number', least: 0, most: 2 });
    expect(plain).toMatchObject({ kind: 'select', choices: [{ value: 'a', label: 'a' }] });
    expect(titled).toMatchObject({ kind: 'select', choices: [{ value: 'a', label: 'A' }] });
    expect(legacy).toMatchObject({ choices: [{ label: 'A' }, { value: 'b', label: 'b' }] });
    expect(many).toMatchObject({ kind: 'multi', least: undefined, most: 1, choices: [{ label: 'A' }] });
  });

  it.each(Object.keys(FORMAT_SAMPLES))('know the format %s', (format) => {
    expect(controlsOf(schemaOf({ f: { type: 'string', format } }))[0]?.kind).toBe(format);
  });

  it('come in the order of the schema, fifty of them', () => {
    const names = Array.from({ length: 50 }, (_, at) => `field ${50 - at}`);
    const schema = schemaOf(Object.fromEntries(names.map((name) => [name, { type: 'string' }])), names);
    expect(controlsOf(schema).map(({ name }) => name)).toEqual(names);
    expect(readDrafts(controlsOf(schema), new Map(names.map((name) => [name, name])))).toEqual({
      ok: true,
      content: Object.fromEntries(names.map((name) => [name, name])),
    });
  });

  it('take names that mean something else to JavaScript for names', () => {
    const schema: unknown = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"boolean"},"toString":{"type":"string"}},"required":["toString"]}',
    );
    const fields = controlsOf(schema);
    expect(fields.map(({ name, isRequired }) => [name, isRequired])).toEqual([
      ['__proto__', false],
      ['constructor', false],
      ['toString', true],
    ]);
    const reading = readDrafts(
      fields,
      new Map([
        ['__proto__', 'x'],
        ['toString', 'y'],
      ]),
    );
    expect(JSON.stringify(reading)).toBe('{"ok":true,"content":{"__proto__":"x","toString":"y"}}');
    expect(readDrafts(fields, new Map())).toMatchObject({ ok: false });
  });

  it('leave out what cannot be shown, and keep the rest', () => {
    const schema = {
      properties: {
        a: { type: 'object' },
        b: null,
        c: { type: 'string', enum: [1] },
        d: { type: 'boolean' },
      },
    };
    expect(controlsOf(schema).map(({ name }) => name)).toEqual(['d']);
    expect(controlsOf(undefined)).toEqual([]);
    const odd = controlsOf({ properties: { n: { type: 'number', default: Object.create(null) } } });
    expect(readDrafts(odd, new Map()).ok).toBe(false);
  });
});

describe('a local time', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const [field] = controlsOf(
    schemaOf({ f: { type: 'string', format: 'date-time', default: '2026-07-01T10:00:00Z' } }),
  );

  it.each([
    ['Europe/Berlin', '2026-01-15T09:30', '2026-01-15T09:30:00+01:00'],
    ['Europe/Berlin', '2026-07-15T09:30:15', '2026-07-15T09:30:15+02:00'],
    ['Europe/Berlin', '2026-03-29T02:30', '2026-03-29T03:30:00+02:00'],
    ['America/St_Johns', '2026-01-15T09:30', '2026-01-15T09:30:00-03:30'],
    ['Asia/Kathmandu', '2026-01-15 00:10', '2026-01-15T00:10:00+05:45'],
    ['Etc/UTC', '0099-12-31T23:59', '0099-12-31T23:59:00+00:00'],
  ])('in %s, %s, is sent as %s', (zone, typed, sent) => {
    vi.stubEnv('TZ', zone);
    if (field === undefined) throw new Error('no field');
    expect(valueFrom(field, typed)).toBe(sent);
    expect(readDrafts([field], new Map([[field.name, typed]])).ok).toBe(true);
  });

  it.each([
    ['the minutes of the second hour', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-25T02:45', '+01:00'],
    ['the minutes of the first', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-25T02:45', '+02:00'],
    ['the seconds', 'America/New_York', '2026-11-01T06:30:07Z', '2026-11-01T01:30:08', '-05:00'],
    ['the hour', 'Europe/Berlin', '2026-10-25T02:30:00Z', '2026-10-25T02:30', '+02:00'],
    ['the day', 'Europe/Berlin', '2026-10-25T01:30:00Z', '2026-10-24T02:30', '+02:00'],
    [
      'half an hour that is repeated',
      'Australia/Lord_Howe',
      '2026-04-04T15:15:00Z',
      '2026-04-05T01:50',
      '+10:30',
    ],
    ['minutes to before it', 'Australia/Lord_Howe', '2026-04-04T15:15:00Z', '2026-04-05T01:15', '+11:00'],
    ['the minutes of what is no time', 'Europe/Berlin', 'soon', '2026-10-25T02:45', '+02:00'],
  ])(
    'keeps its offset in the repeated hour of autumn where %s changes',
    (_what, zone, preset, typed, offset) => {
      vi.stubEnv('TZ', zone);
      const properties = { f: { type: 'string', format: 'date-time', default: preset } };
      const [control] = controlsOf({ properties });
      if (control === undefined) throw new Error('no field');
      const seconds = typed.length > 16 ? '' : ':00';
      expect(valueFrom(control, typed)).toBe(`${typed}${seconds}${offset}`);
    },
  );

  it('is what a default is shown as', () => {
    vi.stubEnv('TZ', 'America/New_York');
    const shown = (preset: string) =>
      controlsOf(schemaOf({ f: { type: 'string', format: 'date-time', default: preset } })).map((control) =>
        draftIn(new Map(), control),
      )[0];
    expect(shown('2026-07-01T10:00:00Z')).toBe('2026-07-01T06:00');
    expect(shown('2026-01-01t02:00:07+01:00')).toBe('2025-12-31T20:00:07');
  });
});
