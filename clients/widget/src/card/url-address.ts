import { readable } from '@parley/core/domain/readable';
import { html, type TemplateResult } from 'lit';
import type { InspectedUrl } from '../address.ts';
import type { Strings } from '../strings/strings.ts';
import { noteView } from './note.ts';

/** The complete URL of a url question, with its host in bold and with warnings. */
export function addressView(
  inspected: InspectedUrl,
  url: string,
  strings: Strings,
  onCopy: (href: string) => void,
): TemplateResult {
  if (inspected.kind === 'refused') {
    return html`
      <div class="box" part="address">
        <code id="address" dir="ltr"><bdi>${readable(url)}</bdi></code>
      </div>
      ${noteView('warn', 'alert', [strings.addressRefused(inspected.why)], 'warning')}
    `;
  }
  const { href, before, host, after, warnings } = inspected;
  return html`
    <div class="box" part="address">
      <div class="by quiet">
        <span>${strings.opens(host)}</span>
        <button class="button small" type="button" @click=${() => onCopy(href)}>${strings.copyLink}</button>
      </div>
      <code id="address" dir="ltr"><bdi>${before}<b>${host}</b>${after}</bdi></code>
      <p class="quiet">${strings.nothingOpened}</p>
    </div>
    ${warnings.length > 0 ? noteView('warn', 'alert', [strings.warningTitle, ...warnings.map(strings.warning)], 'warning') : undefined}
  `;
}
