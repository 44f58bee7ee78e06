/**
 * The page of the call card: it renders the state of the call and connects its buttons. The state itself is in `call.ts`, and
 * the cards are those of the widget.
 */

import { readableLine } from '@parley/core/domain/readable';
import { html, nothing, render, type TemplateResult } from 'lit';
import type { Approval } from '../approval.ts';
import { ApprovalCard } from '../approval-card/card.ts';
import { ElicitationCard } from '../card/card.ts';
import type { Elicitation } from '../elicitation.ts';
import { Call } from './call.ts';
import { applyContext } from './look.ts';
import { pageStyles } from './styles.ts';
import { textsIn } from './texts.ts';

customElements.define('elicitation-card', ElicitationCard);
customElements.define('approval-card', ApprovalCard);

const root = document.documentElement;
const call = new Call({
  onChange: show,
  onContext(context) {
    applyContext(context, root);
    show();
  },
  doneText: (tool) => textsIn(root.lang).done(tool),
});

function show(): void {
  render(pageOf(textsIn(root.lang)), document.body);
}

function pageOf(texts: ReturnType<typeof textsIn>): TemplateResult {
  const { questions, approvals, elsewhere, state, isOver, isOffline, isAsking } = call;
  const hasAsked = questions.size + approvals.size > 0;
  const isWorking = !isOver && !isAsking && (state === 'working' || (state === 'unknown' && !call.isTold));
  const isWaiting = !isOver && state === 'waiting' && !isAsking && elsewhere.length === 0;
  return html`<main @click=${openPage} @auxclick=${openPage} @elicitation-settled=${settled} @approval-settled=${settled}>
    ${[...questions.values()].map(questionView)}
    ${stepsOf([...approvals.values()]).map(approvalsView)}
    ${isOver ? nothing : elsewhereView(texts)}
    <p role="status">${
      isOffline && !isOver
        ? texts.offline
        : isWorking
          ? workingText(texts)
          : isWaiting
            ? texts.waiting
            : isOver || hasAsked || !call.isTold
              ? nothing
              : texts.over
    }</p>
    ${isWorking && !isOffline ? barView(texts) : nothing}
    ${goOnView(texts)}
  </main>`;
}

/** The text of a working call. Texts of servers are separated from the card's own. */
function workingText({ working, using }: ReturnType<typeof textsIn>) {
  const { tool, message } = call.progress;
  const said = typeof message === 'string' ? message : typeof tool === 'string' ? using(tool) : '';
  return said === '' ? working : html`${working}<br><bdi>${readableLine(said)}</bdi>`;
}

function barView(texts: ReturnType<typeof textsIn>) {
  const { progress, total } = call.progress;
  if (typeof progress !== 'number' || typeof total !== 'number' || total <= 0) return nothing;
  return html`<progress aria-label=${texts.progress} max=${total} value=${Math.min(Math.max(progress, 0), total)}></progress>`;
}

function questionView(view: Elicitation): TemplateResult {
  return html`<elicitation-card fed heading-level="1" class=${view.mode === 'url' ? 'on-page' : ''} lang=${root.lang} .server=${call.server} .elicitation=${view}></elicitation-card>`;
}

/** What is decided elsewhere: on a page that the host opens, or in a place without a page. */
function elsewhereView({ elsewhere, onPage, open }: ReturnType<typeof textsIn>) {
  return [onPage, elsewhere].map((lead) => {
    const lines = call.elsewhere.filter(({ url }) => (url !== undefined) === (lead === onPage));
    if (lines.length === 0) return nothing;
    return html`<p>${lead}</p>${lines.map(
      ({ text, url }) =>
        html`<p dir="auto"><b>${readableLine(text)}</b>${url === undefined ? nothing : html`<br><a href=${url} target="_blank" rel="noreferrer">${open(new URL(url).host)}</a>`}</p>`,
    )}`;
  });
}

function approvalsView(approvals: readonly Approval[]): TemplateResult {
  return html`<approval-card heading-level="1" lang=${root.lang} .server=${call.server} .approvals=${approvals}></approval-card>`;
}

function stepsOf(approvals: readonly Approval[]): (readonly Approval[])[] {
  const steps = [...new Set(approvals.map(({ step }) => step))];
  return steps.map((step) => approvals.filter((one) => one.step === step));
}

function goOnView(texts: ReturnType<typeof textsIn>) {
  if (!call.mayGoOn || call.message === 'sent') return nothing;
  if (call.message === 'refused') return html`<p>${texts.sayDone}</p>`;
  return html`<button type="button" @click=${() => call.tellDone()}>${texts.goOn}</button>`;
}

function settled({ detail }: CustomEvent<{ readonly here: boolean }>): void {
  if (detail.here) call.acted();
  else call.poll();
}

/**
 * Lets the host open a link, because a sandbox cannot. If the card prevented the click, its link has not been in view for long
 * enough.
 */
function openPage(event: Event): void {
  const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
  if (!(link instanceof HTMLAnchorElement) || link.href === '') return;
  const wasPrevented = event.defaultPrevented;
  event.preventDefault();
  if (!wasPrevented) void call.open(link.href);
}

document.adoptedStyleSheets = [...(pageStyles.styleSheet === undefined ? [] : [pageStyles.styleSheet])];
new ResizeObserver(() => call.resized(Math.ceil(document.body.getBoundingClientRect().height))).observe(
  document.body,
);
void call.connect();
