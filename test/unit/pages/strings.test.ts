import { controlsOf } from '@parley/core/domain/forms/controls';
import type { Fault } from '@parley/core/domain/forms/fault';
import { TEXT_FORMATS } from '@parley/core/domain/forms/formats';
import type { FormField } from '@parley/core/domain/forms/value';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANGUAGES, languageOf } from '../../../services/api/src/http/headers/language.ts';
import { Html, html } from '../../../services/api/src/pages/kit/html.ts';
import { stringsOf } from '../../../services/api/src/pages/views/string-table.ts';

const RULES = ['required', 'number', 'integer', 'safe', 'choice', 'nul'] as const;
const LIMITS = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'] as const;
const FAULTS: readonly Fault[] = [
  ...RULES.map((rule) => ({ rule })),
  ...LIMITS.map((rule) => ({ rule, limit: 3 })),
  ...TEXT_FORMATS.map((format) => ({ rule: 'format', format }) as const),
];
const choices = { type: 'string' as const, enum: ['a', 'b', 'c'] };
const FIELDS: readonly FormField[] = [
  { type: 'string', minLength: 2, maxLength: 5 },
  { type: 'string', maxLength: 1 },
  { type: 'integer', minimum: 2, maximum: 4 },
  { type: 'array', items: choices, minItems: 1 },
  { type: 'array', items: choices, minItems: 2, maxItems: 2 },
  { type: 'string', format: 'date-time' },
];
/** What functions are called with that take no names, by a part of their path. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  '.wait': [1, 7],
  '.day': [Date.UTC(2026, 0, 15)],
  '.timeLeft': [1_000, 120_000, 7_200_000, 172_800_000],
  '.hint': controlsOf({ properties: { ...FIELDS } }),
  '.fault': FAULTS,
  '.rememberFor': ['conversation', { days: 1 }, { days: 7 }],
};

/** Every string of a table by its path, with functions given names that can be found again. */
function flat(value: unknown, path = ''): (readonly [path: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    const [, given] = Object.entries(ARGUMENTS).find(([name]) => path.includes(name)) ?? [];
    if (given !== undefined) return given.map((one, at) => [`${path}(${at})`, textOf(value(one))]);
    return [[`${path}()`, textOf(value(html`<1>`, html`<2>`))]];
  }
  return Object.entries(value ?? {}).flatMap(([key, part]) => flat(part, `${path}.${key}`));
}

/** What a function of the table gives: a text, markup, or a notice of several texts. */
function textOf(given: string | Html | Readonly<Record<string, string>>): string {
  return typeof given === 'string' || given instanceof Html ? String(given) : Object.values(given).join(' ');
}

describe('the strings', () => {
  it('have the same keys in every language', () => {
    const [first, ...others] = LANGUAGES.map((language) => flat(stringsOf(language)).map(([path]) => path));
    for (const paths of others) expect(paths).toEqual(first);
  });

  it('use every name they are given, in every language', () => {
    const namesIn = (text: string) => [...new Set(text.match(/<\d>/gu))].sort();
    const [first, ...others] = LANGUAGES.map((language) => flat(stringsOf(language)));
    for (const [index, [path, text]] of (first ?? []).entries()) {
      if (path.endsWith('()')) expect([path, namesIn(text)]).not.toEqual([path, []]);
      for (const other of others)
        expect([path, namesIn(other[index]?.[1] ?? '')]).toEqual([path, namesIn(text)]);
    }
  });

  it.each(LANGUAGES)('are words in %s', (language) => {
    for (const [path, text] of flat(stringsOf(language))) {
      expect([path, text]).toEqual([path, expect.stringMatching(/\p{L}{2,}/u)]);
      expect([path, text.trim()]).toEqual([path, text]);
    }
  });

  it('differ between the languages', () => {
    const [english = [], german = []] = LANGUAGES.map((language) => flat(stringsOf(language)));
    const same = english.filter(([, text], index) => german[index]?.[1] === text);
    expect(same).toEqual([]);
  });

  it('have singular and plural forms', () => {
    const { tooMany } = stringsOf('de');
    expect(tooMany.waitMinutes(1)).toContain('eine Minute');
    expect(tooMany.waitMinutes(7)).toContain('7 Minuten');
  });
});

describe('the language', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['DE', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en-GB,en;q=0.9,de;q=0.8', 'en'],
    ['fr, de;q=0.3, en;q=0.7', 'en'],
    ['fr;q=1, de;q=0.3', 'de'],
    ['en;q=0.5, de;q=0.5', 'en'],
    ['de;q=0.5, en;q=0.5', 'de'],
    ['fr', 'en'],
    ['*', 'en'],
    ['en;q=0, *', 'de'],
    ['de;q=0, *', 'en'],
    ['en;q=0, de;q=0', 'en'],
    ['de;q=nonsense, en;q=0.1', 'en'],
    ['de;q=9, en;q=0.1', 'en'],
    ['den, deutsch', 'en'],
  ])('for %j is %s', (header, language) => {
    expect(languageOf(header)).toBe(language);
  });

  it('is a supported one, whatever is sent', () => {
    const unit = fc.constantFrom('de', 'en', 'fr', '*', ',', ';', 'q=', '0', '.', '1', '-', ' ', '\0');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit })), (header) => {
        expect(LANGUAGES).toContain(languageOf(header));
      }),
    );
  });
});
