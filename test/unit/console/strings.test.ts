import { expect, it } from 'vitest';
import { CONSOLE_GERMAN } from '../../../clients/console/src/strings/de.ts';
import { CONSOLE_ENGLISH } from '../../../clients/console/src/strings/en.ts';
import { pickLanguage } from '../../../clients/console/src/strings/words.ts';

const keysOf = (table: object, at = ''): string[] =>
  Object.entries(table).flatMap(([key, value]) =>
    typeof value === 'object' ? keysOf(value as object, `${at}${key}.`) : [`${at}${key} ${typeof value}`],
  );

it('every language has the same texts, and none is empty', () => {
  expect(keysOf(CONSOLE_GERMAN).toSorted()).toEqual(keysOf(CONSOLE_ENGLISH).toSorted());
  for (const table of [CONSOLE_GERMAN, CONSOLE_ENGLISH]) expect(JSON.stringify(table)).not.toContain('""');
});

it.each([
  ['de-AT', ['en'], 'de'],
  [undefined, ['fr', 'de-CH', 'en'], 'de'],
  [undefined, ['den', 'fr'], 'en'],
  ['fr', [], 'en'],
])('a session in %s, in a browser of %j, reads %s', (wanted, languages, lang) => {
  expect(pickLanguage(wanted, languages)).toBe(lang);
});
