import { rangesOf } from './accept.ts';

/** A language of pages and replies. */
export type Language = 'en' | 'de';

export const LANGUAGES: readonly Language[] = ['en', 'de'];

/**
 * The supported language with the highest weight in an `Accept-Language` header (RFC 9110, section 12.5.4); English by default.
 */
export function languageOf(acceptLanguage: string | undefined): Language {
  const ranges = rangesOf(acceptLanguage ?? '').map(({ name, weight }) => ({
    name: name.split('-')[0] ?? '',
    weight,
  }));
  const weightOf = (language: Language): number => {
    const own = ranges.filter(({ name }) => name === language);
    const counting = own.length > 0 ? own : ranges.filter(({ name }) => name === '*');
    return Math.max(0, ...counting.map(({ weight }) => weight));
  };
  const best = Math.max(...LANGUAGES.map(weightOf));
  if (best === 0) return 'en';
  const liked = LANGUAGES.filter((language) => weightOf(language) === best);
  // Among equal weights, the first language in the header is used.
  const first = ranges.find(({ name }) => liked.some((language) => language === name))?.name;
  return liked.find((language) => language === first) ?? liked[0] ?? 'en';
}
