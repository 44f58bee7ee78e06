import type { AllStrings } from './inbox.ts';

export type { AllStrings, InboxStrings } from './inbox.ts';
export type { Ending, Strings, Why } from './type.ts';

/**
 * Loads the words of a language (BCP 47) from the file beside this one; nothing where English has to do, which is
 * at hand from the start.
 */
export function loadStrings(lang: string | undefined): Promise<AllStrings> | undefined {
  return /^de\b/i.test(lang ?? '') ? import('./de.ts').then(({ GERMAN }) => GERMAN) : undefined;
}
