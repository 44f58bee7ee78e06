import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminInstallation, Counts, Overview } from '../api/replies.ts';
import { barsView } from '../charts/bars.ts';
import { ConsolePage } from '../kit/page.ts';
import { filtersView } from '../parts/filters.ts';
import { ago, numberIn } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import { figuresView } from './figures.ts';
import { windowFilter } from './insights.ts';
import { installationView, readInstallation } from './installation.ts';

type OverviewCounts = Overview['elicitations'];

/** What the overview of a tenant shows. */
interface ReadOverview {
  readonly overview: Overview;
  readonly counts: Counts;
  readonly installation: AdminInstallation | undefined;
}

export class OverviewPage extends ConsolePage<ReadOverview> {
  protected async load(signal: AbortSignal): Promise<ReadOverview> {
    const { api } = this.at;
    const window = this.place.query.get('window') ?? undefined;
    const [overview, counts, installation] = await Promise.all([
      api.call('GET /v1/admin/overview', { signal }),
      api.call('GET /v1/admin/counts', { query: { window }, signal }),
      readInstallation(this.at, signal),
    ]);
    return { overview, counts, installation };
  }

  protected isAbout(_change: LiveChange): boolean {
    return true;
  }

  protected heading(): TemplateResult {
    return html`<h1 tabindex="-1">${this.at.words.pages.overview}</h1>`;
  }

  protected view({ overview, counts, installation }: ReadOverview): TemplateResult {
    return html`
      <div class="cards">
        ${(['elicitations', 'approvals', 'turns'] as const).map((kind) => this.#kindView(kind, overview[kind]))}
      </div>
      ${filtersView({
        words: this.at.words,
        shown: [windowFilter(this.at.words)],
        more: [],
        query: this.place.query,
        onChange: (query) => this.at.go(hrefOf('overview', { query })),
      })}
      <div class="cards">
        ${(['elicitations', 'approvals'] as const).map((kind) => figuresView(this.at, kind, counts[kind]))}
      </div>
      ${installation === undefined ? nothing : installationView(this.at, installation)}
    `;
  }

  #kindView(kind: 'elicitations' | 'approvals' | 'turns', counts: OverviewCounts): TemplateResult {
    const { words, api } = this.at;
    const clock = { now: api.now(), lang: words.lang };
    const { open, openOverOneMinute, openOverTenMinutes, openOverOneHour, oldestOpenAt } = counts;
    const part = (name: string, value: number, tone: string) => ({ name, value, tone });
    return html`<section class="panel" aria-labelledby=${kind}>
      <h2 id=${kind}><a href=${hrefOf(kind)}>${words.pages[kind]}</a></h2>
      <p class="figure"><strong>${numberIn(words.lang, open)}</strong> ${words.openNow}</p>
      <p class="quiet">${oldestOpenAt === undefined ? words.nothingIsOpen : html`${words.oldest} <a href=${hrefOf(kind, { query: { order: 'oldest' } })}>${ago(oldestOpenAt, clock)}</a>`}</p>
      ${
        open === 0
          ? nothing
          : barsView({
              title: words.byAge,
              lang: words.lang,
              bars: [
                [words.underOneMinute, open - openOverOneMinute, 'age1'],
                [words.toTenMinutes, openOverOneMinute - openOverTenMinutes, 'age2'],
                [words.toOneHour, openOverTenMinutes - openOverOneHour, 'age3'],
                [words.overOneHour, openOverOneHour, 'age4'],
              ].map(([label, value, tone]) => ({
                label: String(label),
                parts: [part(String(label), Math.max(0, Number(value)), String(tone))],
              })),
            })
      }
      <p class="quiet">${words.endedLately(numberIn(words.lang, counts.endedLastMinute), numberIn(words.lang, counts.endedLastHour))}</p>
    </section>`;
  }
}
