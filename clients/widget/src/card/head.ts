import { readableLine } from '@parley/core/domain/readable';
import { html, type TemplateResult } from 'lit';
import type { Elicitation } from '../elicitation.ts';
import type { Strings } from '../strings/strings.ts';
import { type IconName, icon } from './icons.ts';
import type { CardProps } from './props.ts';
import { isOver } from './state.ts';

const SOON_MS = 60_000;

/** The name of the asker, for use in sentences. */
export function agentOf(view: Elicitation | undefined, given: string | undefined, strings: Strings): string {
  return firstText(given, view?.context?.agent) ?? strings.someAgent;
}

/** The title, the asker, the reason and the deadline; or how the question ended. */
export function headView(props: CardProps, end: string | undefined): TemplateResult {
  const { view, agent, strings, leftMs } = props;
  const title = firstText(view?.title);
  const why = view && end === undefined ? whyOf(view, agent, strings) : undefined;
  const risk = view?.risk;
  return html`
    <div class="head">
      <span class="badge">${icon(badgeOf(props))}</span>
      <div>
        <div id="title" class="title" part="title" role="heading" aria-level=${props.headingLevel} tabindex="-1"><bdi>${view ? (title ?? strings.questionFrom(agent)) : end}</bdi></div>
        ${view && end ? html`<p class="end" part="status">${end}</p>` : undefined}
        <div class="by quiet">
          ${view && title ? html`<bdi>${strings.asks(agent)}</bdi>` : undefined}
          ${risk ? html`<span class=${risk === 'high' ? 'soon' : ''} part="risk">${strings.risk(risk)}</span>` : undefined}
          ${leftMs === undefined ? undefined : html`<span class=${leftMs <= SOON_MS ? 'soon' : ''} part="countdown" role="timer">${strings.countdown(leftMs)}</span>`}
        </div>
        ${why ? html`<p class="quiet"><bdi>${why}</bdi></p>` : undefined}
      </div>
    </div>
  `;
}

function whyOf({ context }: Elicitation, agent: string, strings: Strings): string | undefined {
  const { trigger, onceFor, toolName, server } = context ?? {};
  // For a secret, `toolName` is the model's name of the tool, and `onceFor` is the readable one.
  const tool = [onceFor, toolName, server]
    .map((name) => firstText(name))
    .find((name) => name && name !== agent);
  return strings.why({ trigger: firstText(trigger), tool });
}

/** The first text that is not blank, on one line. */
function firstText(...texts: readonly unknown[]): string | undefined {
  const text = texts.find((each) => typeof each === 'string' && each.trim() !== '');
  return typeof text === 'string' ? readableLine(text) : undefined;
}

const ENDS: { readonly [status: string]: IconName } = { accepted: 'done', expired: 'alert' };

function badgeOf({ view, state }: CardProps): IconName {
  if (state === 'loading') return 'turn';
  if (state === 'offline') return 'alert';
  if (isOver(state)) return ENDS[view?.status ?? state] ?? 'no';
  if (view?.context?.trigger === 'credential_required') return 'lock';
  return view?.mode === 'url' ? 'page' : 'question';
}
