import { readableLine } from '@parley/core/domain/readable';
import { html, type TemplateResult } from 'lit';
import { hrefOf } from '../place.ts';
import type { ConsoleStrings } from '../strings/en.ts';

const IDS = /\b((?:el|ap|sr)_[A-Za-z0-9_-]{8,})/g;

/** The server's sentences about why something is waiting. `userId` is the owner of the turns in them. */
export function reasonsView(
  reasons: readonly string[],
  { words, userId }: { readonly words: ConsoleStrings; readonly userId: string | undefined },
): TemplateResult {
  return html`<section class="panel" aria-labelledby="why">
    <h2 id="why">${words.why}</h2>
    <ul class="reasons">${reasons.map((reason) => html`<li>${linked(reason, userId)}</li>`)}</ul>
  </section>`;
}

/** A sentence in which each id is a link to its page. */
function linked(sentence: string, userId: string | undefined): unknown[] {
  // Splitting by a pattern with one group puts the matches at the odd indexes.
  return readableLine(sentence)
    .split(IDS)
    .map((part, at) => {
      const href = at % 2 === 1 ? hrefOfId(part, userId) : undefined;
      return href === undefined ? part : html`<a href=${href}>${part}</a>`;
    });
}

/** The address of the page for an id, by the id's prefix. */
export function hrefOfId(id: string, userId: string | undefined): string | undefined {
  if (id.startsWith('el_')) return hrefOf('elicitation', { id });
  if (id.startsWith('ap_')) return hrefOf('approval', { id });
  return userId === undefined ? undefined : hrefOf('turn', { id, query: { userId } });
}
