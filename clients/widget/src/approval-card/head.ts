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
  /** Time to the first deadline in ms; undefined without one. */
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

/** The sentence in place of calls that are not known. */
function sentenceFor([first]: readonly CallModel[], strings: CardStrings): string {
  if (first?.state === 'gone') return strings.approvalGone;
  return first?.state === 'offline' ? strings.approvalOffline : strings.loading;
}

/** Whether nothing can be decided any more. */
export function isOver({ state }: CallModel): boolean {
  return ['elsewhere', 'gone', 'approved', 'edited', 'denied', 'expired', 'withdrawn'].includes(state);
}

/** Time to the first deadline of pending calls in ms; undefined without one. */
export function remainingMs(calls: readonly CallModel[], clock: { now(): number }): number | undefined {
  const deadlines = calls.flatMap(({ view }) =>
    view?.expiresAt !== undefined && isPending(view) ? [Date.parse(view.expiresAt) - clock.now()] : [],
  );
  const first = Math.min(...deadlines.filter((ms) => !Number.isNaN(ms)));
  return Number.isFinite(first) ? Math.max(0, first) : undefined;
}
