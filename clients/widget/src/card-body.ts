import { html, nothing, type TemplateResult } from 'lit';
import { type ActionFacts, formActions, urlActions } from './card-actions.ts';
import { addressView, isInApp, openable } from './card-address.ts';
import { type HeadFacts, headView, wordsView } from './card-head.ts';
import { type IconName, icon } from './card-icons.ts';
import type { CardState } from './card-state.ts';
import { readable } from './card-text.ts';
import { type Elicitation, isOpen } from './elicitation.ts';
import type { Refusal } from './server.ts';
import type { Strings } from './strings.ts';

/** All that an open question is drawn from. */
export interface BodyFacts extends HeadFacts, ActionFacts {
  /** The address has been in view for long enough. */
  readonly isAwake: boolean;
  readonly refusal: Refusal | undefined;
  /** Errors of the server that belong to no field. */
  readonly leftovers: readonly string[];
  readonly fields: TemplateResult;
  input(): void;
  copy(href: string): void;
}

/** A question that is on its way. */
export function loadingView(strings: Strings): TemplateResult {
  return html`
    <div class="card" part="card" aria-busy="true">
      <p class="quiet">${strings.loading}</p>
      <div class="bone"></div>
      <div class="bone"></div>
      <div class="bone"></div>
    </div>
  `;
}

/** One sentence where a question was or would be. */
export function sentenceView(name: IconName, sentence: string): TemplateResult {
  return html`
    <div class="card" part="card">
      <div class="head">
        <span class="badge">${icon(name)}</span>
        <p id="title" class="title" part="status" tabindex="-1">${sentence}</p>
      </div>
    </div>
  `;
}

/** A question that was settled: what it was, and how it ended. */
export function endView(facts: HeadFacts): TemplateResult {
  return group(
    facts.view,
    html`
      ${headView(facts, endOf(facts.view, facts.state, facts.strings))}
      ${wordsView(facts.view)}
    `,
  );
}

/** How it ended, in words; nothing while it is open. */
export function endOf(
  { status, mode, reason }: Elicitation,
  state: CardState,
  strings: Strings,
): string | undefined {
  if (state === 'gone') return strings.gone;
  if (status === 'pending' || status === 'opened') return undefined;
  return strings.ended({ status, mode, here: state !== 'elsewhere', reason });
}

/** A question that can be answered. */
export function openView(facts: BodyFacts): TemplateResult {
  const { view, strings } = facts;
  return group(
    view,
    html`
      ${headView(facts)}
      ${wordsView(view)}
      ${view.sensitive === true ? html`<p class="quiet">${strings.sensitive}</p>` : nothing}
      ${view.mode === 'url' ? urlView(facts) : formView(facts)}
    `,
  );
}

function group(view: Elicitation, inner: TemplateResult): TemplateResult {
  const describedBy = view.description ? 'message description' : 'message';
  return html`
    <div class="card" part="card" role="group" aria-labelledby="title" aria-describedby=${describedBy}>${inner}</div>
  `;
}

function formView(facts: BodyFacts): TemplateResult {
  return html`
    <div @input=${facts.input} @change=${facts.input}>${facts.fields}</div>
    ${notesView(facts)} ${formActions(facts)}
  `;
}

function urlView(facts: BodyFacts): TemplateResult {
  const { view, strings } = facts;
  const url = view.url ?? '';
  const address = openable(url);
  const isOpened = isOpen(view) && view.status === 'opened';
  return html`
    ${isOpened ? waitingView(strings) : nothing}
    ${addressView(url, strings, facts.copy)}
    ${(isOpened || isInApp()) && address !== undefined ? html`<p class="quiet">${strings.nothingOpened}</p>` : nothing}
    ${notesView(facts)}
    ${urlActions(facts, facts.isAwake ? address?.href : undefined, address !== undefined)}
  `;
}

function waitingView(strings: Strings): TemplateResult {
  return html`
    <div class="note waiting" part="status">
      ${icon('turn')}
      <div><b>${strings.waitingThere}</b><p>${strings.waitingThereHint}</p></div>
    </div>
  `;
}

function notesView({ state, strings, refusal, leftovers }: BodyFacts): TemplateResult {
  const refused = refusal && [
    strings.refusal(refusal.code, refusal.retryAfterSeconds),
    ...leftovers.map(strings.serverFault),
  ];
  return html`
    ${refused ? noteView('refusal', 'look', refused) : nothing}
    ${state === 'offline' ? noteView('offline', 'away', [strings.offline]) : nothing}
  `;
}

function noteView(kind: string, name: IconName, texts: readonly string[]): TemplateResult {
  return html`
    <div class="note ${kind}" part="status">
      ${icon(name)}
      <div>${texts.map((text) => html`<p dir="auto">${readable(text)}</p>`)}</div>
    </div>
  `;
}
