import { html, type TemplateResult } from 'lit';
import { signInHref } from '../api/session.ts';
import type { ConsoleStrings } from '../strings/en.ts';

/** The page for somebody who has not signed in. `again` is given if the session could not be read, and retries that. */
export function signInView(words: ConsoleStrings, path: string, again?: () => void): TemplateResult {
  return html`<main class="alone">
    <h1 tabindex="-1">${words.console}</h1>
    ${
      again === undefined
        ? html`<p>${words.signInFirst}</p><p><a class="button primary" href=${signInHref(path)}>${words.signIn}</a></p>`
        : html`<p role="alert">${words.errors.unavailable}</p>
            <p><button type="button" class="button" @click=${again}>${words.tryAgain}</button></p>`
    }
  </main>`;
}
