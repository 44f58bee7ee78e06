import { html, nothing, type TemplateResult } from 'lit';
import { lookAt } from '../address.ts';
import type { Elicitation } from '../elicitation.ts';
import type { Strings } from '../strings/strings.ts';
import { formActions, urlActions } from './actions.ts';
import type { AskedFacts, CardFacts } from './facts.ts';
import { headView } from './head.ts';
import { noteView } from './note.ts';
import { type CardState, isOver } from './state.ts';
import { readable } from './text.ts';
import { addressView } from './url-address.ts';

/** From here on a message gets a box of its own that scrolls, in characters, so that what can be done stays near. */
const LONG = 1_200;

/** A card: one that can be answered, one that was settled, or a sentence where a question was or would be. */
export function cardView(facts: CardFacts): TemplateResult {
  const { view, state, strings } = facts;
  return html`
    <div class="card" part="card" role="group" aria-labelledby="title" aria-describedby=${view ? 'message description' : nothing} aria-busy=${state === 'loading'}>
      ${headView(facts, endOf(view, state, strings))}
      ${view ? wordsView(view) : nothing}
      ${view && !isOver(state) ? askView({ ...facts, view }) : nothing}
    </div>
  `;
}

/** What there is to say instead of a question, or how it ended; nothing while it is open. */
export function endOf(view: Elicitation | undefined, state: CardState, strings: Strings): string | undefined {
  if (state === 'gone') return strings.gone;
  if (view === undefined) return state === 'offline' ? strings.offline : strings.loading;
  const { status, mode, reason } = view;
  if (status === 'pending' || status === 'opened') return undefined;
  return isOver(state) ? strings.ended({ status, mode, here: state !== 'elsewhere', reason }) : undefined;
}

/** The message and the description: text nodes, line breaks kept, nothing in them ever a link. */
function wordsView({ message, description }: Elicitation): TemplateResult {
  const isLong = message.length > LONG;
  return html`
    <div id="message" class="words ${isLong ? 'long' : ''}" part="message" dir="auto" tabindex=${isLong ? 0 : nothing} role=${isLong ? 'group' : nothing} aria-labelledby=${isLong ? 'title' : nothing}>${readable(message)}</div>
    ${description ? html`<div id="description" class="words quiet" dir="auto">${readable(description)}</div>` : nothing}
  `;
}

function askView(facts: AskedFacts): TemplateResult {
  const { view, state, strings, refusal, acts } = facts;
  const { mode, url = '', sensitive } = view;
  const look = mode === 'url' ? lookAt(url) : undefined;
  return html`
    ${sensitive ? html`<p class="quiet">${strings.sensitive}</p>` : nothing}
    ${view.status === 'opened' ? noteView('', 'turn', [strings.waitingThere, strings.waitingThereHint]) : nothing}
    ${look ? addressView(look, url, strings, acts.copy) : facts.fields}
    ${
      refusal
        ? noteView('danger', 'look', [
            strings.refusal(refusal.code, refusal.retryAfterSeconds),
            ...facts.leftovers.map(strings.serverFault),
          ])
        : nothing
    }
    ${state === 'offline' ? noteView('warn', 'look', [strings.offline]) : nothing}
    ${look ? urlActions(facts, look.kind === 'address' ? look.href : undefined) : formActions(facts)}
  `;
}
