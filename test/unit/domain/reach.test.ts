import {
  afterUnshownForm,
  FIELD_KINDS,
  needsOf,
  PAGE_OF_ASKER,
  type QuestionNeeds,
  type Reachability,
  reachOf,
} from '@parley/shared/domain/reach';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sized } from '../../harness/proof-size.ts';

const kinds = fc.uniqueArray(fc.constantFrom(...FIELD_KINDS));
const question: fc.Arbitrary<QuestionNeeds> = fc.oneof(
  fc.record({
    mode: fc.constant('form' as const),
    fieldKinds: kinds,
    sensitive: fc.boolean(),
    connects: fc.constant(false),
  }),
  fc.record({
    mode: fc.constant('url' as const),
    fieldKinds: fc.constant([]),
    sensitive: fc.boolean(),
    connects: fc.boolean(),
  }),
);
const person: fc.Arbitrary<Reachability> = fc.record(
  {
    form: fc.boolean(),
    url: fc.boolean(),
    page: fc.boolean(),
    notify: fc.boolean(),
    fieldKinds: fc.uniqueArray(fc.constantFrom(...FIELD_KINDS, 'of-a-newer-build')),
    sensitiveForms: fc.constant(false as const),
    tellsPages: fc.constant(true as const),
    unattended: fc.constant(true as const),
  },
  { requiredKeys: ['form', 'url', 'page', 'notify'] },
);
const NOBODY: Reachability = { form: false, url: false, page: false, notify: false };

function always(rule: (question: QuestionNeeds, person: Reachability) => void): void {
  fc.assert(fc.property(question, person, rule), { numRuns: sized(2_000) });
}

describe('the reach of a question', () => {
  it('shows a form in the client only when the client takes its mode, its kinds and its sensitivity [MCP25-10 MCP26-10]', () => {
    always((asked, of) => {
      if (asked.mode !== 'form' || reachOf(asked, of) !== 'client') return;
      expect(of.form).toBe(true);
      for (const kind of asked.fieldKinds) expect(of.fieldKinds ?? FIELD_KINDS).toContain(kind);
      expect(asked.sensitive && of.sensitiveForms === false).toBe(false);
    });
  });

  it('never has a sensitive form typed into a channel: without the page no channel takes it', () => {
    always((asked, of) => {
      if (asked.mode === 'form' && asked.sensitive && reachOf(asked, of) === 'notify')
        expect(of.page).toBe(true);
    });
  });

  it('never gets worse when the person can be reached in one more way', () => {
    const isAsked = (asked: QuestionNeeds, of: Reachability) =>
      ['client', 'page', 'notify'].includes(reachOf(asked, of));
    always((asked, of) => {
      if (!isAsked(asked, of)) return;
      for (const more of [
        { form: true },
        { url: true },
        { page: true },
        { notify: true },
        { tellsPages: true as const },
      ])
        expect(isAsked(asked, { ...of, ...more })).toBe(true);
    });
  });

  it('leaves the page or a channel to a form that the client did not show', () => {
    always((asked, of) => {
      if (asked.mode === 'form') expect(reachOf(asked, afterUnshownForm(of))).not.toBe('client');
      else expect(reachOf(asked, afterUnshownForm(of))).toBe(reachOf(asked, of));
    });
    const form = needsOf({ mode: 'form', requestedSchema: { type: 'object', properties: {} } });
    const able = { form: true, url: true, page: true, notify: true };
    expect(reachOf(form, able)).toBe('client');
    expect(reachOf(form, afterUnshownForm(able))).toBe('page');
    expect(reachOf(form, afterUnshownForm({ ...able, url: false }))).toBe('notify');
    expect(reachOf(form, afterUnshownForm({ ...NOBODY, form: true }))).toBe('undeliverable');
  });
});

describe('the needs of a question', () => {
  it('are the kinds of its fields, each once', () => {
    const properties = {
      name: { type: 'string' },
      nickname: { type: 'string', format: 'email' },
      age: { type: 'integer' },
      height: { type: 'number' },
      agrees: { type: 'boolean' },
      colour: { type: 'string', enum: ['red'] },
      size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }] },
      toppings: { type: 'array', items: { type: 'string', enum: ['ham'] } },
    };
    expect(needsOf({ mode: 'form', requestedSchema: { type: 'object', properties } })).toEqual({
      mode: 'form',
      fieldKinds: ['text', 'integer', 'number', 'boolean', 'select', 'multi_select'],
      sensitive: false,
      connects: false,
    });
  });

  it('can be read from any value in place of a schema', () => {
    fc.assert(
      fc.property(fc.anything(), (requestedSchema) => {
        for (const kind of needsOf({ mode: 'form', requestedSchema }).fieldKinds)
          expect(FIELD_KINDS).toContain(kind);
      }),
    );
    expect(needsOf({ mode: 'url', sensitive: true })).toEqual({
      mode: 'url',
      fieldKinds: [],
      sensitive: true,
      connects: true,
    });
    expect(needsOf(PAGE_OF_ASKER).connects).toBe(false);
  });
});
