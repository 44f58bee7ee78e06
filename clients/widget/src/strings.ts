import { GERMAN } from './strings-de.ts';
import { ENGLISH } from './strings-en.ts';
import type { Strings } from './strings-type.ts';

export type { Ending, Strings, Why } from './strings-type.ts';

const TABLES: Readonly<Record<string, Strings>> = { en: ENGLISH, de: GERMAN };

/**
 * The texts for a language (BCP 47; the nearest table counts, English where there is none), with a page's own
 * texts put over them.
 */
export function stringsFor(lang: string | undefined, overrides?: Partial<Strings>): Strings {
  const language = (lang ?? '').toLowerCase().split('-')[0] ?? '';
  const table = Object.hasOwn(TABLES, language) ? TABLES[language] : undefined;
  return { ...(table ?? ENGLISH), ...overrides };
}
