import { CONSOLE_ENGLISH, type ConsoleStrings } from './en.ts';

/** The language of the page: that of the session, else the first language of the browser for which there are texts. */
export function pickLanguage(wanted: string | undefined, languages: readonly string[]): string {
  const known = [wanted ?? '', ...languages].find((lang) => /^(?:en|de)\b/i.test(lang));
  return /^de\b/i.test(known ?? '') ? 'de' : 'en';
}

/** The texts of a language; English where its file cannot be loaded. */
export async function wordsOf(lang: string): Promise<ConsoleStrings> {
  if (lang !== 'de') return CONSOLE_ENGLISH;
  try {
    return (await import('./de.ts')).CONSOLE_GERMAN;
  } catch {
    return CONSOLE_ENGLISH;
  }
}
