import { html, nothing, type TemplateResult } from 'lit';
import { type IconName, icon } from './card-icons.ts';
import type { CardState } from './card-state.ts';
import { readable, readableLine } from './card-text.ts';
import type { Elicitation } from './elicitation.ts';
import type { Strings } from './strings.ts';

/** From here on a message gets a box of its own that scrolls, in characters, so that what can be done stays near. */
const LONG = 1_200;
const SOON_MS = 60_000;

/** Who asks, as a name to put into sentences. */
export function agentOf(view: Elicitation | undefined, given: string | undefined, strings: Strings): string {
  const { agent, server, toolName } = view?.context ?? {};
  const name = [given, agent, server, toolName].find(
    (each) => typeof each === 'string' && each.trim() !== '',
  );
  return typeof name === 'string' ? readableLine(name) : strings.someAgent;
}

/** What the question is called: its title, or whom it is from. */
export function titleOf(view: Elicitation, agent: string, strings: Strings): string {
  const title = readableLine(view.title ?? '');
  return title === '' ? strings.questionFrom(agent) : title;
}

export interface HeadFacts {
  readonly view: Elicitation;
  readonly state: CardState;
  readonly agent: string;
  readonly strings: Strings;
  readonly headingLevel: number;
  /** Time left in ms; nothing when there is no deadline, or no need to tell. */
  readonly left: number | undefined;
}

/** Who asks, what it is called, why, and until when; or how it `end`ed. */
export function headView(
  { view, state, agent, strings, headingLevel, left }: HeadFacts,
  end?: string,
): TemplateResult {
  const why = whyOf(view, agent, strings);
  return html`
    <header class="head">
      <span class="badge">${icon(badgeOf(view, state))}</span>
      <div>
        <div id="title" class="title" part="title" role="heading" aria-level=${headingLevel} tabindex="-1"><bdi>${titleOf(view, agent, strings)}</bdi></div>
        ${end === undefined ? nothing : html`<p class="end" part="status">${end}</p>`}
        <div class="by">
          ${view.title ? html`<bdi>${strings.asks(agent)}</bdi>` : nothing}
          ${left === undefined ? nothing : countdownView(left, strings)}
        </div>
        ${why === undefined || end !== undefined ? nothing : html`<p class="why"><bdi>${why}</bdi></p>`}
      </div>
    </header>
  `;
}

/** The message and the description: text nodes, line breaks kept, nothing in them ever a link. */
export function wordsView(view: Elicitation): TemplateResult {
  const isLong = view.message.length > LONG;
  return html`
    <div id="message" class="words ${isLong ? 'long' : ''}" part="message" dir="auto" tabindex=${isLong ? 0 : nothing} role=${isLong ? 'group' : nothing} aria-labelledby=${isLong ? 'title' : nothing}>${readable(view.message)}</div>
    ${view.description ? html`<div id="description" class="words quiet" dir="auto">${readable(view.description)}</div>` : nothing}
  `;
}

function countdownView(left: number, strings: Strings): TemplateResult {
  return html`<span class="countdown ${left <= SOON_MS ? 'soon' : ''}" part="countdown" role="timer">${strings.countdown(left)}</span>`;
}

function whyOf({ context }: Elicitation, agent: string, strings: Strings): string | undefined {
  const { trigger, toolName, server } = context ?? {};
  const tool = [toolName, server].find((each) => typeof each === 'string' && readableLine(each) !== agent);
  return strings.why({
    trigger: typeof trigger === 'string' ? trigger : undefined,
    tool: typeof tool === 'string' ? readableLine(tool) : undefined,
  });
}

function badgeOf({ status, mode, context }: Elicitation, state: CardState): IconName {
  if (state === 'offline') return 'away';
  if (state === 'gone' || status === 'declined' || status === 'cancelled' || status === 'withdrawn')
    return 'no';
  if (status === 'accepted') return 'done';
  if (status === 'expired') return 'clock';
  if (context?.trigger === 'credential_required') return 'key';
  return mode === 'url' ? 'page' : 'question';
}
