import { html, nothing, type TemplateResult } from 'lit';
import type { AskedFacts } from './facts.ts';
import { icon } from './icons.ts';

/** Sends the form, or leaves it. */
export function formActions(facts: AskedFacts): TemplateResult {
  const { state, strings, acts, isUnsent } = facts;
  const isSending = state === 'sending';
  return html`
    <div class="actions near" part="actions">
      ${button('primary', acts.submit, isUnsent ? strings.tryAgain : isSending ? html`${icon('turn')}${strings.sending}` : strings.send, isSending)}
      ${leaving(facts, strings.notNow)}
    </div>
  `;
}

/** Opens the page at `href`, if any, or leaves it. The link works once its address has been in view for long enough. */
export function urlActions(facts: AskedFacts, href: string | undefined): TemplateResult {
  const { view, strings, acts, isChecking, isAwake } = facts;
  const isOpened = view.status === 'opened';
  const isAccount = view.context?.trigger === 'credential_required';
  return html`
    <div class="actions" part="actions">
      ${
        href
          ? html`<a class="button primary" part="primary" role="link" tabindex="0" target="_blank" rel="noopener noreferrer" aria-describedby="address"
              href=${isAwake ? href : nothing} aria-disabled=${!isAwake} @click=${acts.open} @auxclick=${acts.open}
            >${isOpened ? strings.openAgain : isAccount ? strings.connectAccount : strings.openPage}${icon('page')}<span class="said">(${strings.newTab})</span></a>`
          : nothing
      }
      ${isOpened ? button('check', acts.check, isChecking ? strings.checking : strings.checkNow, isChecking) : nothing}
      ${leaving(facts, isOpened ? strings.cancel : strings.notNow)}
    </div>
  `;
}

function leaving({ state, strings, acts }: AskedFacts, cancel: string): TemplateResult {
  const isSending = state === 'sending';
  return html`
    ${button('decline', acts.decline, strings.decline, isSending)}
    ${button('cancel', acts.cancel, cancel, isSending)}
  `;
}

/** A button whose act is on its way keeps its place and the focus, and only does nothing. */
function button(
  name: string,
  act: () => void,
  label: string | TemplateResult,
  isIdle: boolean,
): TemplateResult {
  return html`<button class="button ${name}" part=${name} type="button" aria-disabled=${isIdle} @click=${act}>${label}</button>`;
}
