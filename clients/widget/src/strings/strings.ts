import type { AllStrings } from './inbox.ts';

export type { ApprovalStrings, RememberedScope, SettledApproval } from './approval.ts';
export type { AllStrings, InboxStrings } from './inbox.ts';
export type { SettledQuestion, Strings, Why } from './type.ts';

/** Loads the texts of a language (BCP 47). Undefined for languages that the widget shows in English, which is always loaded. */
export function loadStrings(lang: string | undefined): Promise<AllStrings> | undefined {
  return /^de\b/i.test(lang ?? '') ? import('./de.ts').then(({ GERMAN }) => GERMAN) : undefined;
}
