import { readable } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import { until } from 'lit/directives/until.js';
import { mayRead, type PageContext } from '../kit/at.ts';
import { emptyNote } from '../parts/notes.ts';
import type { ShownRecord } from './shown-record.ts';

/** The code of the cards is loaded with the first card, so that the first page stays small. */
const LOADERS = {
  elicitation: () => import('@parley/widget'),
  approval: () => import('@parley/widget/approvals'),
};

/**
 * The card as the person sees it, if the operator's role may see content. It is inert, because nobody answers for somebody
 * else.
 */
export function cardPanel(at: PageContext, record: ShownRecord): TemplateResult {
  const { words } = at;
  return html`<section class="panel" aria-labelledby="card">
    <h2 id="card">${words.asThePersonSeesIt}</h2>
    ${mayRead(at) ? shownCard(at, record) : emptyNote(words.contentIsHidden)}
  </section>`;
}

function shownCard({ words }: PageContext, record: ShownRecord): TemplateResult {
  const card = cardOf(record);
  if (card === undefined) return emptyNote(words.contentIsHidden);
  return html`
    ${record.hasEnded ? nothing : html`<p class="quiet">${words.cardIsAPicture}</p>`}
    <div class="unseen">${textOf(record)}</div>
    <div class="card-frame" inert>${until(
      LOADERS[record.family]().then(() => card),
      words.loading,
    )}</div>
  `;
}

function cardOf({ family, view }: ShownRecord): TemplateResult | undefined {
  if (family === 'elicitation')
    return view.elicitation && html`<elicitation-card .elicitation=${view.elicitation}></elicitation-card>`;
  return view.approval && html`<approval-card .approvals=${[view.approval]}></approval-card>`;
}

/** The text that screen readers read instead of the inert card. */
function textOf({ family, view }: ShownRecord): TemplateResult {
  if (family === 'approval')
    return html`<p>${readable(view.toolName)}</p><pre>${readable(JSON.stringify(view.approval?.arguments ?? {}, null, 2))}</pre>`;
  return html`<p>${readable(view.elicitation?.message ?? '')}</p>`;
}
