import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import { type ConsoleFilter, filtersView } from '../parts/filters.ts';
import { emptyNote, sentenceOf } from '../parts/notes.ts';
import { saveFile } from '../parts/save-file.ts';
import { type TableColumn, tableView } from '../parts/table.ts';
import { hrefOf } from '../place.ts';
import { ConsolePage } from './page.ts';

/** A page of a list as the console shows it. */
export interface ListedPage<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | undefined;
}

/** A live list of a tenant. Its filters and its cursor are in the address, so that an operator can keep or send a link. */
export abstract class ConsoleList<Row> extends ConsolePage<ListedPage<Row>> {
  /** The path of the list in the API. */
  protected abstract readonly path: string;
  protected abstract readonly kind: LiveChange['kind'] | undefined;
  protected abstract filters(): {
    readonly shown: readonly ConsoleFilter[];
    readonly more: readonly ConsoleFilter[];
  };
  protected abstract columns(): readonly TableColumn<Row>[];
  protected abstract keyOf(row: Row): string;

  /** The query of a call: the cursor, and those filters in the address that this list knows. */
  protected asked(): Readonly<Record<string, string | undefined>> {
    const { shown, more } = this.filters();
    const names = [...shown, ...more].map(({ name }) => name);
    return Object.fromEntries(
      [...this.place.query].filter(([name]) => name === 'cursor' || names.includes(name)),
    );
  }

  protected override isAbout({ kind }: LiveChange): boolean {
    return kind === this.kind;
  }

  protected override heading(): TemplateResult {
    const { words } = this.at;
    const button = (word: string, format: 'csv' | 'jsonl') =>
      html`<button type="button" class="button small" @click=${() => void this.#export(format)}>${word}</button>`;
    return html`<h1 tabindex="-1">${words.pages[this.place.page]}</h1>
      <div class="actions">${button(words.exportCsv, 'csv')} ${button(words.exportJson, 'jsonl')}</div>`;
  }

  protected override view({ rows, nextCursor }: ListedPage<Row>): TemplateResult {
    const { words } = this.at;
    const { page, query } = this.place;
    const { cursor, ...first } = this.asked();
    return html`
      ${filtersView({
        words,
        ...this.filters(),
        query,
        onChange: (filters) => this.at.go(hrefOf(page, { query: filters })),
      })}
      ${
        rows.length === 0
          ? emptyNote(nextCursor === undefined ? words.nothingFound : words.nothingOnThisPage)
          : tableView({
              caption: words.pages[page],
              columns: this.columns(),
              rows,
              keyOf: (row) => this.keyOf(row),
            })
      }
      <nav class="pager" aria-label=${words.pagesOfTheList}>
        ${cursor === undefined ? nothing : html`<a class="button" href=${hrefOf(page, { query: first })}>${words.firstPage}</a>`}
        ${nextCursor === undefined ? nothing : html`<a class="button" href=${hrefOf(page, { query: { ...first, cursor: nextCursor } })}>${words.nextPage}</a>`}
      </nav>
    `;
  }

  async #export(format: 'csv' | 'jsonl'): Promise<void> {
    const { api, say, words } = this.at;
    const { cursor: _, ...query } = this.asked();
    try {
      saveFile(await api.download(this.path, { ...query, format }), `${this.place.page}.${format}`);
    } catch (error) {
      say(sentenceOf(error, words));
    }
  }
}
