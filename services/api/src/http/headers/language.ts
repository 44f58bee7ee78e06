import { rangesOf } from './accept.ts';

/** A language that pages and replies speak. */
export type Language = 'en' | 'de';

export const LANGUAGES: readonly Language[] = ['en', 'de'];

/** The language that an `Accept-Language` header likes best among ours (RFC 9110 section 12.5.4), else English. */
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
  // Among equals, the one that was named first.
  const first = ranges.find(({ name }) => liked.some((language) => language === name))?.name;
  return liked.find((language) => language === first) ?? liked[0] ?? 'en';
}
