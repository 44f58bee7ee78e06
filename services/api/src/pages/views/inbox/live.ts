import { INBOX_PATH, LIVE } from '../../../accounts/own-pages.ts';
import { type Html, html } from '../../kit/html.ts';
import type { Template } from '../../kit/layout.ts';
import { ownPath } from '../parts.ts';
import type { PageStrings } from '../strings-en.ts';
import { LIVE_SCRIPT } from './live-script.ts';

interface LivePage {
  readonly kind: 'inbox' | 'group';
  readonly path: string;
  /**
   * True if there are open records that the page does not show. A record that is missing on the page may then still be open.
   */
  readonly isPartial: boolean;
  readonly content: Html;
}

/** A page that shows changes since it was loaded. Without scripts, the page works but does not change. */
export function livePage(
  { kind, path, isPartial, content }: LivePage,
  { approval, inbox: { live } }: PageStrings,
): Pick<Template, 'body' | 'script' | 'connects'> {
  const endings = Object.entries(approval.ended).map(([status, { title }]) => [status, title] as const);
  // The texts of the script, in the language of the page.
  const texts = [...endings, ...Object.entries(live)];
  return {
    body: html`<div data-live="${kind}" data-again="${ownPath(`${path}?${LIVE}`)}" data-events="${INBOX_PATH}/events" data-partial="${String(isPartial)}">
${content}
</div>
<p id="news" role="status"></p>
<ul id="texts" hidden>${texts.map(([about, text]) => html`<li data-about="${about}">${text}</li>`)}</ul>`,
    script: LIVE_SCRIPT,
    connects: true,
  };
}
