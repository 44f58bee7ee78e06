/**
 * The timeline of a turn, as a picture and as a table with the same content. Rows, scale and drawing are in the files beside
 * it.
 */

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { hrefOfId } from '../parts/reasons.ts';
import { tableView } from '../parts/table.ts';
import { outside, outsideOr, wordOf } from '../parts/texts.ts';
import { moment, shortDuration } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import type { ConsoleStrings } from '../strings/en.ts';
import { pictureView } from './picture.ts';
import { isTakeOver, ordered, rowsOf, type TimelineRun, type TurnTimeline } from './rows.ts';
import { evenScale, isShortenedBetter, shortenedScale } from './scale.ts';

/** One event of a turn, as the table shows it. */
interface TimelineEntry {
  readonly agent: string;
  readonly what: string;
  readonly href?: string | undefined;
  readonly pod?: string | undefined;
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly outcome?: string | undefined;
}

/** `<console-timeline>`: a turn as a picture and as a table. */
export class ConsoleTimeline extends LitElement {
  static override properties = {
    timeline: { attribute: false },
    now: { attribute: false },
    words: { attribute: false },
    userId: { attribute: false },
    width: { state: true },
    isShortened: { state: true },
  };

  declare timeline: TurnTimeline;
  declare now: number;
  declare words: ConsoleStrings;
  declare userId: string | undefined;
  declare width: number;
  /** The operator's choice of scale; undefined before a choice, when the clearer scale is drawn. */
  declare isShortened: boolean | undefined;

  #observer: ResizeObserver | undefined;

  constructor() {
    super();
    this.width = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#observer = new ResizeObserver(([entry]) => {
      this.width = Math.floor(entry?.contentRect.width ?? 0);
    });
    this.#observer.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#observer?.disconnect();
  }

  protected override render(): TemplateResult {
    const { words, timeline } = this;
    const rows = rowsOf(timeline, this.now);
    const isBetter = isShortenedBetter(rows);
    const isShortened = this.isShortened ?? isBetter;
    const scale = (isShortened ? shortenedScale : evenScale)(rows);
    const onScale = () => {
      this.isShortened = !isShortened;
    };
    return html`
      ${
        isBetter || this.isShortened !== undefined
          ? html`<p class="quiet bar">${isShortened ? words.scaleIsShortened : words.scaleIsEven}
              <button type="button" class="button small" @click=${onScale}>${isShortened ? words.drawEven : words.drawShortened}</button></p>`
          : nothing
      }
      ${this.width === 0 ? nothing : pictureView({ rows, scale, width: this.width, words })}
      ${this.#tableView()}
    `;
  }

  #tableView(): TemplateResult {
    const { words, timeline, userId } = this;
    const entries = ordered(timeline.runs).flatMap(({ run }) => entriesOf(run, words, userId));
    return tableView({
      caption: words.timeline,
      rows: entries.map((entry, at) => ({ ...entry, key: `${at}` })),
      keyOf: ({ key }) => key,
      columns: [
        { title: words.when, cell: ({ startedAt }) => moment(startedAt, words) },
        { title: words.agent, cell: ({ agent }) => outside(agent) },
        {
          title: words.what,
          cell: ({ what, href }) =>
            href === undefined ? outside(what) : html`<a href=${href}>${outside(what)}</a>`,
        },
        { title: words.pod, cell: ({ pod }) => outsideOr(pod) },
        {
          title: words.took,
          isNumber: true,
          cell: ({ startedAt, endedAt }) =>
            endedAt === undefined
              ? words.lastsFor(shortDuration(Math.max(0, this.now - Date.parse(startedAt)), words.lang))
              : shortDuration(Date.parse(endedAt) - Date.parse(startedAt), words.lang),
        },
        { title: words.outcome, cell: ({ outcome }) => outsideOr(outcome) },
      ],
    });
  }
}

/** The events of a run in the order of time. */
function entriesOf(run: TimelineRun, words: ConsoleStrings, userId: string | undefined): TimelineEntry[] {
  const { agent } = run;
  const hrefOfRun = (id: string | undefined) =>
    id === undefined || userId === undefined ? undefined : hrefOf('turn', { id, query: { userId } });
  const entries: TimelineEntry[] = [
    ...run.owners.map((owner, at) => ({
      ...owner,
      agent,
      what: isTakeOver(run.owners, at) ? words.takeOver : words.ownerStates[owner.state],
    })),
    ...run.steps.map((step) => ({
      ...step,
      agent,
      what: words.stepNumber(`${step.index + 1}`),
      outcome: step.finishReason,
    })),
    ...run.calls.map((call) => ({
      ...call,
      agent,
      what: call.toolName,
      href: hrefOfRun(call.delegate),
      outcome: wordOf(words.callStates, call.state),
    })),
    ...run.waits.map((wait) => ({
      ...wait,
      agent,
      what: words.waitFor(wordOf(words.triggers, wait.trigger)),
      href: hrefOfId(wait.elicitationId, userId),
    })),
  ];
  return entries.sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt));
}
