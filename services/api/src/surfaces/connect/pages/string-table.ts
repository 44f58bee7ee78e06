import type { Language } from './language.ts';
import type { Strings } from './strings.ts';
import { GERMAN } from './strings-de.ts';
import { ENGLISH } from './strings-en.ts';

const TABLE: Readonly<Record<Language, Strings>> = { en: ENGLISH, de: GERMAN };

/** The strings of a language. */
export function stringsOf(language: Language): Strings {
  return TABLE[language];
}
