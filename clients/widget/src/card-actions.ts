import { html, nothing, type TemplateResult } from 'lit';
import { icon } from './card-icons.ts';
import type { CardState } from './card-state.ts';
import type { Elicitation } from './elicitation.ts';
import type { Strings } from './strings.ts';

/** What a person can set off on a card. */
export interface Acts {
  /** The link was pressed; the browser opens it unless the event is stopped. */
  open(event: MouseEvent): void;
  submit(): void;
  decline(): void;
  cancel(): void;
  check(): void;
}

export interface ActionFacts {
  readonly view: Elicitation;
  readonly state: CardState;
  readonly strings: Strings;
  readonly acts: Acts;
  readonly isChecking: boolean;
  /** An answer waits for the connection. */
  readonly hasUnsent: boolean;
}

/** Sends the form, or leaves it. A button on its way keeps its place and the focus, and only does nothing. */
export function formActions({ state, strings, acts, hasUnsent }: ActionFacts): TemplateResult {
  const isSending = state === 'sending';
  return html`
    <div class="actions near" part="actions">
      <button class="button primary ${isSending ? 'turning' : ''}" part="primary" type="button" aria-disabled=${isSending} @click=${acts.submit}>${
        isSending ? html`${icon('turn')}${strings.sending}` : hasUnsent ? strings.tryAgain : strings.send
      }</button>
      ${leaving(strings.notNow, isSending, strings, acts)}
    </div>
  `;
}

/** Opens the page, or leaves it. `href` is there once the address has been in view for long enough. */
export function urlActions(
  facts: ActionFacts,
  href: string | undefined,
  isOpenable: boolean,
): TemplateResult {
  const { view, state, strings, acts, isChecking } = facts;
  const isOpened = view.status === 'opened';
  const isSending = state === 'sending';
  return html`
    <div class="actions" part="actions">
      ${
        isOpenable
          ? html`<a class="button primary" part="primary" role="link" tabindex="0" target="_blank" rel="noopener noreferrer" aria-describedby="address"
              href=${href ?? nothing} aria-disabled=${href === undefined} @click=${acts.open} @auxclick=${acts.open}
            >${linkText(view, strings)}${icon('page')}<span class="said">(${strings.newTab})</span></a>`
          : nothing
      }
      ${
        isOpened
          ? html`<button class="button" type="button" aria-disabled=${isChecking} @click=${acts.check}>${isChecking ? strings.checking : strings.checkNow}</button>`
          : nothing
      }
      ${leaving(isOpened ? strings.cancel : strings.notNow, isSending, strings, acts)}
    </div>
  `;
}

function linkText({ status, context }: Elicitation, strings: Strings): string {
  if (status === 'opened') return strings.openAgain;
  return context?.trigger === 'credential_required' ? strings.connectAccount : strings.openPage;
}

function leaving(cancel: string, isSending: boolean, strings: Strings, acts: Acts): TemplateResult {
  return html`
    <button class="button" part="decline" type="button" aria-disabled=${isSending} @click=${acts.decline}>${strings.decline}</button>
    <button class="button plain" part="cancel" type="button" aria-disabled=${isSending} @click=${acts.cancel}>${cancel}</button>
  `;
}
