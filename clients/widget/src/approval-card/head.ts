import { html, nothing, type TemplateResult } from 'lit';
import { isPending } from '../approval.ts';
import { type IconName, icon } from '../card/icons.ts';
import type { CallModel } from './model.ts';
import { type CardStrings, titleOf } from './texts.ts';

const SOON_MS = 60_000;

interface HeadProps {
  readonly calls: readonly CallModel[];
  readonly strings: CardStrings;
  readonly headingLevel: number;
  /** The time until the first deadline in ms; undefined if there is none. */
  readonly leftMs: number | undefined;
}

/** What is asked, and until when. */
export function headView({ calls, strings, headingLevel, leftMs }: HeadProps): TemplateResult {
  const views = calls.flatMap(({ view }) => view ?? []);
  const badge = badgeOf(calls);
  const title = views.length > 0 ? titleOf(views, strings) : sentenceFor(calls, strings);
  return html`
    <div class="head">
      <span class="badge">${icon(badge)}</span>
      <div>
        <div id="title" class="title" part="title" role="heading" aria-level=${headingLevel} tabindex="-1"><bdi>${title}</bdi></div>
        ${leftMs === undefined ? nothing : html`<p class="quiet"><span class=${leftMs <= SOON_MS ? 'soon' : ''} part="countdown" role="timer">${strings.countdown(leftMs)}</span></p>`}
      </div>
    </div>
  `;
}

function badgeOf(calls: readonly CallModel[]): IconName {
  const statuses = calls.map(({ view }) => view?.status);
  if (!calls.every(isOver)) return statuses.some((status) => status !== undefined) ? 'question' : 'turn';
  if (statuses.includes('expired')) return 'alert';
  return statuses.some((status) => status === 'approved' || status === 'edited') ? 'done' : 'no';
}

/** The sentence that replaces unknown calls. */
function sentenceFor([first]: readonly CallModel[], strings: CardStrings): string {
  if (first?.state === 'gone') return strings.approvalGone;
  return first?.state === 'offline' ? strings.approvalOffline : strings.loading;
}

/** Whether no decision is possible any more. */
export function isOver({ state }: CallModel): boolean {
  return ['elsewhere', 'gone', 'approved', 'edited', 'denied', 'expired', 'withdrawn'].includes(state);
}

/** The time until the first deadline of the pending calls, in ms; undefined if there is none. */
export function remainingMs(calls: readonly CallModel[], clock: { now(): number }): number | undefined {
  const deadlines = calls.flatMap(({ view }) =>
    view?.expiresAt !== undefined && isPending(view) ? [Date.parse(view.expiresAt) - clock.now()] : [],
  );
  const first = Math.min(...deadlines.filter((ms) => !Number.isNaN(ms)));
  return Number.isFinite(first) ? Math.max(0, first) : undefined;
}
