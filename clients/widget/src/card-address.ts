import { html, nothing, type TemplateResult } from 'lit';
import { type Address, lookAt } from './address.ts';
import { icon } from './card-icons.ts';
import { readable } from './card-text.ts';
import type { Strings } from './strings.ts';

/** What the page of a url question looks like before it is opened: all of its address, the host stressed. */
export function addressView(url: string, strings: Strings, onCopy: (href: string) => void): TemplateResult {
  const look = lookAt(url);
  const isOpenable = look.kind === 'address';
  return html`
    <div class="address" part="address">
      <div class="caption">
        <span>${isOpenable ? strings.opens(look.host) : strings.addressLabel}</span>
        ${
          isOpenable
            ? html`<button class="button plain small" type="button" @click=${() => onCopy(look.href)}>${strings.copyLink}</button>`
            : nothing
        }
      </div>
      <code id="address" dir="ltr">${isOpenable ? stressed(look) : html`<bdi>${readable(url)}</bdi>`}</code>
    </div>
    ${look.kind === 'refused' ? note([strings.addressRefused(look.why)]) : nothing}
    ${isOpenable && look.warnings.length > 0 ? note([strings.warningTitle, ...look.warnings.map(strings.warning)]) : nothing}
  `;
}

/** The address that may be opened, or nothing. */
export function openable(url: string | undefined): Address | undefined {
  const look = lookAt(url ?? '');
  return look.kind === 'address' ? look : undefined;
}

function stressed({ before, host, after }: Address): TemplateResult {
  return html`<bdi>${before}<b>${host}</b>${after}</bdi>`;
}

function note([first, ...rest]: readonly string[]): TemplateResult {
  const isTitled = rest.length > 0;
  return html`
    <div class="note warning" part="warning" role="note">
      ${icon('look')}
      <div>${isTitled ? html`<b>${first}</b>` : first}${rest.map((text) => html`<p>${text}</p>`)}</div>
    </div>
  `;
}

// Browsers inside other apps, which often open no tab and which the app around them may read.
const IN_APP =
  /FBA[NV]|Instagram|Line\/|MicroMessenger|TikTok|BytedanceWebview|Snapchat|LinkedInApp|Slack|Teams\/|; wv\)/u;

/** Whether this page seems to run in a browser inside another app. */
export function isInApp(userAgent: string = navigator.userAgent): boolean {
  return IN_APP.test(userAgent);
}

/** Copies a text; false where the page may not. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
