import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from '../../../services/api/src/surfaces/connect/pages/html.ts';
import { LANGUAGES, languageOf } from '../../../services/api/src/surfaces/connect/pages/language.ts';
import { stringsOf } from '../../../services/api/src/surfaces/connect/pages/string-table.ts';

/** Every string of a table by its path, with functions given names that can be found again. */
function flat(value: unknown, path = ''): (readonly [path: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') {
    if (path.includes('.wait')) return [1, 7].map((count) => [`${path}(${count})`, String(value(count))]);
    return [[`${path}()`, String(value(html`<1>`, html`<2>`))]];
  }
  return Object.entries(value ?? {}).flatMap(([key, part]) => flat(part, `${path}.${key}`));
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
