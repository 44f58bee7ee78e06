import { INBOX_PATH } from '../../accounts/own-pages.ts';
import { type Html, html } from '../kit/html.ts';
import { actions, buttonLink, name, plain } from './parts.ts';
import type { PageStrings } from './strings-en.ts';
import type { Asking } from './view.ts';

// A longer message gets a scrolling box, so that the buttons below stay within reach; see style.ts.
const WORDS_SHORT = 400;
const WORDS_SHORT_LINES = 8;

/** The asker, within a sentence and at its start. */
export function askerOf(
  { agent }: Pick<Asking, 'agent'>,
  { asking }: PageStrings,
): { asker: Html; askerFirst: Html } {
  if (agent !== undefined) return { asker: name(agent), askerFirst: name(agent) };
  return { asker: plain(asking.unnamed), askerFirst: plain(asking.unnamedFirst) };
}

/** The question's message, and who wrote it. */
export function wordsOf(question: Pick<Asking, 'agent' | 'message'>, strings: PageStrings): Html | undefined {
  const { message } = question;
  if (message.trim() === '') return undefined;
  const long = message.length > WORDS_SHORT || message.split('\n').length > WORDS_SHORT_LINES;
  // A scrolling box must be reachable by keyboard and have a label.
  const reach = long ? html` class="long" tabindex="0" role="group" aria-labelledby="words"` : undefined;
  return html`<figure class="words"><figcaption id="words">${strings.asking.words(askerOf(question, strings).askerFirst)}</figcaption><blockquote dir="auto"${reach}>${message}</blockquote></figure>`;
}

/** The link to the page with everything that waits for the person. */
export function inboxLink({ inbox }: PageStrings): Html {
  return actions(buttonLink(INBOX_PATH, inbox.back, 'plain'));
}
