import { html, type TemplateResult } from 'lit';
import { codeOf, detailsOf } from '../api/client.ts';
import type { ConsoleStrings } from '../strings/en.ts';
import { outside } from './texts.ts';

interface ErrorNote {
  readonly words: ConsoleStrings;
  readonly again: () => void;
  /** True if the page still shows what it read earlier. */
  readonly isKept: boolean;
}

/** A note about why a page could not be read. */
export function errorNote(error: unknown, { words, again, isKept }: ErrorNote): TemplateResult {
  return html`<div class="note danger" role="alert">
    <p>${sentenceOf(error, words)}${isKept ? ` ${words.shownAsBefore}` : ''}</p>
    ${detailsOf(error).map((detail) => html`<p>${outside(detail)}</p>`)}
    <button type="button" class="button" @click=${again}>${words.tryAgain}</button>
  </div>`;
}

/** A sentence about what a failed call means for the operator. */
export function sentenceOf(error: unknown, { errors }: ConsoleStrings): string {
  const code = codeOf(error);
  return Object.hasOwn(errors, code)
    ? ((errors as Readonly<Record<string, string>>)[code] ?? errors.other)
    : errors.other;
}

/** A sentence instead of an empty table, or of content that the role may not see. */
export function emptyNote(sentence: string): TemplateResult {
  return html`<p class="empty">${sentence}</p>`;
}
