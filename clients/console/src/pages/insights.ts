/**
 * The page that shows how approvals were decided, with its filters. The counts come from the server, and the charts are in
 * `charts/`.
 */

import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { Insights } from '../api/replies.ts';
import { mayRead } from '../kit/at.ts';
import { ConsolePage } from '../kit/page.ts';
import { filtersView } from '../parts/filters.ts';
import { emptyNote } from '../parts/notes.ts';
import { tableView } from '../parts/table.ts';
import { outside } from '../parts/texts.ts';
import { shortDuration } from '../parts/times.ts';
import { hrefOf } from '../place.ts';

/** How approvals were decided, by agent, tool or person. */
export class InsightsPage extends ConsolePage<Insights> {
  protected load(signal: AbortSignal): Promise<Insights> {
    const { query } = this.place;
    const asked = { window: query.get('window') ?? undefined, by: query.get('by') ?? undefined };
    return this.at.api.call('GET /v1/admin/insights', { query: asked, signal });
  }

  protected isAbout({ kind }: LiveChange): boolean {
    return kind === 'approval';
  }

  protected heading(): TemplateResult {
    const { words } = this.at;
    return html`<h1 tabindex="-1">${words.pages.insights}</h1><p class="quiet">${words.insightsWhat}</p>`;
  }

  protected view({ by, insights, isSampled }: Insights): TemplateResult {
    const { words } = this.at;
    const { lang } = words;
    const percent = new Intl.NumberFormat(lang, { style: 'percent' });
    const groups = [['', words.agent] as const, ['tool', words.tool] as const];
    return html`
      ${filtersView({
        words,
        shown: [
          windowFilter(words),
          {
            name: 'by',
            label: words.groupedBy,
            choices: mayRead(this.at) ? [...groups, ['person', words.person]] : groups,
          },
        ],
        more: [],
        query: this.place.query,
        onChange: (query) => this.at.go(hrefOf('insights', { query })),
      })}
      ${isSampled ? html`<p class="quiet">${words.isSampled}</p>` : nothing}
      ${
        insights.length === 0
          ? emptyNote(words.nothingFound)
          : tableView({
              caption: words.pages.insights,
              rows: insights,
              keyOf: ({ name }) => name,
              columns: [
                {
                  title: { agent: words.agent, tool: words.tool, person: words.person }[by],
                  cell: ({ name, neverDenied }) =>
                    html`<a href=${hrefOf('approvals', { query: { state: 'ended', [by === 'person' ? 'userId' : by]: name } })}>${outside(name)}</a>
                      ${neverDenied ? html`<span class="quiet">${words.neverDenied}</span>` : nothing}`,
                },
                { title: words.held, isNumber: true, cell: ({ held }) => held },
                {
                  title: words.approvedShare,
                  isNumber: true,
                  cell: ({ approvedShare }) =>
                    approvedShare === undefined ? '–' : percent.format(approvedShare),
                },
                {
                  title: words.medianTime,
                  isNumber: true,
                  cell: ({ medianSeconds }) =>
                    medianSeconds === undefined ? '–' : shortDuration(medianSeconds * 1_000, lang),
                },
                { title: words.approvalStates.expired, isNumber: true, cell: ({ expired }) => expired },
                {
                  title: words.unread,
                  isNumber: true,
                  cell: ({ decidedWithinTwoSeconds }) => decidedWithinTwoSeconds,
                },
              ],
            })
      }
    `;
  }
}

/** The filter for the time window of the figures: an hour or a day. */
export function windowFilter({
  window,
  lastHour,
  lastDay,
}: {
  readonly window: string;
  readonly lastHour: string;
  readonly lastDay: string;
}) {
  return {
    name: 'window',
    label: window,
    choices: [
      ['', lastHour],
      ['day', lastDay],
    ],
  } as const;
}
