import { html } from 'lit';
import type { PageContext } from '../kit/at.ts';
import { openDialog } from '../parts/dialogs.ts';
import type { ShownRecord } from './shown-record.ts';

const CALLS = {
  elicitation: {
    make: 'POST /v1/elicitations/:id/answer-link',
    revoke: 'DELETE /v1/elicitations/:id/answer-link',
  },
  approval: {
    make: 'POST /v1/approvals/:id/answer-link',
    revoke: 'DELETE /v1/approvals/:id/answer-link',
  },
} as const satisfies Readonly<Record<ShownRecord['family'], object>>;

/** Asks for confirmation, makes a link with which a person can answer without a sign-in, and shows it once. */
export function answerLinkDialog({ api, words }: PageContext, { family, id }: ShownRecord): void {
  const isQuestion = family === 'elicitation';
  openDialog({
    words,
    title: words.makeLinkTitle,
    body: html`<p>${words.makeLinkWhat}</p>
      <label class="field">${words.opensFor}<select name="seconds">
        ${Object.entries(words.extensions).map(([seconds, word]) => html`<option value=${seconds}>${word}</option>`)}
      </select></label>
      <label class="check"><input type="checkbox" name="insists" />${isQuestion ? words.alsoSensitive : words.alsoHighRisk}</label>`,
    act: words.makeLink,
    async onAct({ seconds, insists }) {
      const allows = { [isQuestion ? 'allowSensitive' : 'allowHighRisk']: insists !== undefined };
      const body = { expiresInSeconds: Number(seconds), ...allows };
      const { url } = await api.call(CALLS[family].make, { params: { id }, body });
      return html`<p>${words.linkIsMade}</p>
        <label class="field">${words.answerLink}<input readonly value=${url} @focus=${selectAll} /></label>
        <div class="actions">
          <button type="button" class="button primary" @click=${(event: Event) => copy(event, words)}>${words.copy}</button>
        </div>
        <p class="quiet said"></p>`;
    },
  });
}

/** Asks for confirmation and revokes the link with which a person could answer without a sign-in. */
export function revokeLinkDialog({ api, words, say }: PageContext, { family, id }: ShownRecord): void {
  openDialog({
    words,
    title: words.revokeLinkTitle,
    body: html`<p>${words.revokeLinkWhat}</p>`,
    act: words.revokeLink,
    isDangerous: true,
    async onAct() {
      const { revoked } = await api.call(CALLS[family].revoke, { params: { id } });
      say(revoked ? words.linkIsRevoked : words.noLinkToRevoke);
      return undefined;
    },
  });
}

function selectAll(event: Event): void {
  (event.currentTarget as HTMLInputElement).select();
}

/** Copies the link and announces it. If the browser refuses, the marked text can be copied by hand. */
async function copy(event: Event, words: PageContext['words']): Promise<void> {
  const dialog = (event.currentTarget as HTMLElement).closest('dialog');
  const [input, status] = [dialog?.querySelector('input'), dialog?.querySelector('.said')];
  if (!input || !status) return;
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    status.textContent = words.copied;
  } catch {
    status.textContent = words.notCopied;
  }
}
