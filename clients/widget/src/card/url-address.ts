import { html, type TemplateResult } from 'lit';
import type { Look } from '../address.ts';
import type { Strings } from '../strings/strings.ts';
import { noteView } from './note.ts';
import { readable } from './text.ts';

/** What the page of a url question looks like before it is opened: all of its address, the host stressed. */
export function addressView(
  look: Look,
  url: string,
  strings: Strings,
  onCopy: (href: string) => void,
): TemplateResult {
  if (look.kind === 'refused') {
    return html`
      <div class="box" part="address">
        <code id="address" dir="ltr"><bdi>${readable(url)}</bdi></code>
      </div>
      ${noteView('warn', 'look', [strings.addressRefused(look.why)], 'warning')}
    `;
  }
  const { href, before, host, after, warnings } = look;
  return html`
    <div class="box" part="address">
      <div class="by quiet">
        <span>${strings.opens(host)}</span>
        <button class="button small" type="button" @click=${() => onCopy(href)}>${strings.copyLink}</button>
      </div>
      <code id="address" dir="ltr"><bdi>${before}<b>${host}</b>${after}</bdi></code>
      <p class="quiet">${strings.nothingOpened}</p>
    </div>
    ${warnings.length > 0 ? noteView('warn', 'look', [strings.warningTitle, ...warnings.map(strings.warning)], 'warning') : undefined}
  `;
}
