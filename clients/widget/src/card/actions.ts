import { html, nothing, type TemplateResult } from 'lit';
import { icon } from './icons.ts';
import type { QuestionProps } from './props.ts';

/**
 * The buttons of a form question. A single yes-or-no field has a button for each, and no button to decline, which would look
 * like a second no.
 */
export function formActions(props: QuestionProps): TemplateResult {
  const { state, strings, actions, isUnsent, isYesNo } = props;
  const isSending = state === 'sending';
  return html`
    <div class="actions near" part="actions">
      ${
        isYesNo
          ? [true, false].map((isYes) =>
              button('primary', () => actions.choose(isYes), isYes ? strings.yes : strings.no, isSending),
            )
          : button(
              'primary',
              actions.submit,
              isUnsent ? strings.tryAgain : isSending ? strings.sending : strings.send,
              isSending,
            )
      }
      ${leaveButtons(props, strings.notNow)}
    </div>
  `;
}

/** The link and the buttons of a url question. The link works only after its URL has been in view for long enough. */
export function urlActions(props: QuestionProps, href: string | undefined): TemplateResult {
  const { view, strings, actions, isChecking, isReady } = props;
  const isOpened = view.status === 'opened';
  const isAccount = view.context?.trigger === 'credential_required';
  return html`
    <div class="actions" part="actions">
      ${
        href
          ? html`<a class="button primary" part="primary" role="link" tabindex="0" target="_blank" rel="noopener noreferrer" aria-describedby="address"
              href=${isReady ? href : nothing} aria-disabled=${!isReady} @click=${actions.open} @auxclick=${actions.open}
            >${isOpened ? strings.openAgain : isAccount ? strings.connectAccount : strings.openPage}${icon('page')}<span class="said">(${strings.newTab})</span></a>`
          : nothing
      }
      ${isOpened ? button('check', actions.check, isChecking ? strings.checking : strings.checkNow, isChecking) : nothing}
      ${leaveButtons(props, isOpened ? strings.cancel : strings.notNow)}
    </div>
  `;
}

function leaveButtons({ state, strings, actions, isYesNo }: QuestionProps, cancel: string): TemplateResult {
  const isSending = state === 'sending';
  return html`
    ${isYesNo ? nothing : button('decline', actions.decline, strings.decline, isSending)}
    ${button('cancel', actions.cancel, cancel, isSending)}
  `;
}

/** A button. While busy it does nothing, but keeps its place and the focus. */
function button(
  name: string,
  onClick: () => void,
  label: string | TemplateResult,
  isBusy: boolean,
): TemplateResult {
  return html`<button class="button ${name}" part=${name} type="button" aria-disabled=${isBusy} @click=${onClick}>${label}</button>`;
}
