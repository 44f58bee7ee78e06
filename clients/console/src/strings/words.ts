import { CONSOLE_ENGLISH, type ConsoleStrings } from './en.ts';

/** Chooses the language of the page: that of the session, or else the first of the browser's languages that has texts. */
export function pickLanguage(wanted: string | undefined, languages: readonly string[]): string {
  const known = [wanted ?? '', ...languages].find((lang) => /^(?:en|de)\b/i.test(lang));
  return /^de\b/i.test(known ?? '') ? 'de' : 'en';
}

/** The texts of a language, or English if their file cannot be loaded. */
export async function wordsOf(lang: string): Promise<ConsoleStrings> {
  if (lang !== 'de') return CONSOLE_ENGLISH;
  try {
    return (await import('./de.ts')).CONSOLE_GERMAN;
  } catch {
    return CONSOLE_ENGLISH;
  }
}
