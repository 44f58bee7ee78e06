import { html, type TemplateResult } from 'lit';
import type { AdminCall } from '../api/client.ts';
import type { PageContext } from '../kit/at.ts';
import { openDialog } from '../parts/dialogs.ts';
import { answerLinkDialog, revokeLinkDialog } from './answer-link.ts';
import type { ShownRecord } from './shown-record.ts';

type Act = 'withdraw' | 'extend' | 'redeliver';

const CALLS = {
  elicitation: {
    withdraw: 'DELETE /v1/admin/elicitations/:id',
    extend: 'POST /v1/admin/elicitations/:id/extend',
    redeliver: 'POST /v1/admin/elicitations/:id/redeliver',
  },
  approval: {
    withdraw: 'DELETE /v1/admin/approvals/:id',
    extend: 'POST /v1/admin/approvals/:id/extend',
    redeliver: 'POST /v1/admin/approvals/:id/redeliver',
  },
} as const satisfies Readonly<Record<ShownRecord['family'], Readonly<Record<Act, AdminCall>>>>;

/** The actions of an operator on a record. */
export function recordActions(at: PageContext, record: ShownRecord, onDone: () => void): TemplateResult {
  const { words } = at;
  const button = (word: string, onClick: () => void) =>
    html`<button type="button" class="button" @click=${onClick}>${word}</button>`;
  const acts = { at, record, onDone };
  return html`
    ${
      record.hasEnded
        ? ''
        : html`${button(words.withdraw, () => withdraw(acts))} ${button(words.extend, () => extend(acts))}
      ${button(words.makeLink, () => answerLinkDialog(at, record))} ${button(words.revokeLink, () => revokeLinkDialog(at, record))}`
    }
    ${button(words.deliverAgain, () => deliverAgain(acts))}
  `;
}

interface ActProps {
  readonly at: PageContext;
  readonly record: ShownRecord;
  readonly onDone: () => void;
}

function withdraw({ at: { api, words, say }, record: { family, id }, onDone }: ActProps): void {
  openDialog({
    words,
    title: words.withdrawTitle,
    body: html`<p>${words.withdrawWhat}</p>
      <label class="field">${words.reasonInput}<input name="reason" pattern="[a-z][a-z0-9_]{0,63}" value="withdrawn_by_operator" required autocomplete="off" spellcheck="false" /></label>`,
    act: words.withdraw,
    isDangerous: true,
    async onAct(body) {
      await api.call(CALLS[family].withdraw, { params: { id }, body });
      say(words.withdrawn);
      onDone();
      return undefined;
    },
  });
}

function extend({ at: { api, words, say }, record: { family, id }, onDone }: ActProps): void {
  openDialog({
    words,
    title: words.extendTitle,
    body: html`<p>${words.extendWhat}</p>
      <label class="field">${words.extendBy}<select name="seconds">
        ${Object.entries(words.extensions).map(([seconds, word]) => html`<option value=${seconds}>${word}</option>`)}
      </select></label>`,
    act: words.extend,
    async onAct({ seconds }) {
      await api.call(CALLS[family].extend, { params: { id }, body: { seconds: Number(seconds) } });
      say(words.extended);
      onDone();
      return undefined;
    },
  });
}

function deliverAgain({ at: { api, words, say }, record: { family, id }, onDone }: ActProps): void {
  openDialog({
    words,
    title: words.deliverAgain,
    body: html`<p>${words.deliverAgainWhat}</p>
      <label class="field">${words.deliverBy}<input name="by" maxlength="64" value=${family === 'elicitation' ? 'webhook' : 'slack'} required autocomplete="off" spellcheck="false" /></label>`,
    act: words.deliverAgain,
    async onAct(body) {
      await api.call(CALLS[family].redeliver, { params: { id }, body });
      say(words.onItsWay);
      onDone();
      return undefined;
    },
  });
}
