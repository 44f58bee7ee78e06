import type { Language } from '../../http/headers/language.ts';
import { GERMAN } from './strings-de.ts';
import { ENGLISH, type PageStrings } from './strings-en.ts';

const TABLE: Readonly<Record<Language, PageStrings>> = { en: ENGLISH, de: GERMAN };

/** The strings of a language. */
export function stringsOf(language: Language): PageStrings {
  return TABLE[language];
}
