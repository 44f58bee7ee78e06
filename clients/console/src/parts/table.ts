import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

/** A column of a table: its head, and what it shows of a row. */
export interface TableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => unknown;
  /** True for numbers, which are aligned at the right so that their digits stand below each other. */
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** A key with which a row keeps its element, and so the focus in it, when other rows come and go. */
  readonly keyOf: (row: Row) => string;
}

/** A table; on a narrow page, each row is a block with the heads beside its cells. Explicit roles keep it a table for screen readers then. */
export function tableView<Row>({ caption, columns, rows, keyOf }: TableProps<Row>): TemplateResult {
  return html`<table class="table" role="table">
    <caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      ${columns.map(({ title, isNumber }) => html`<th scope="col" role="columnheader" class=${isNumber ? 'number' : nothing}>${title}</th>`)}
    </tr></thead>
    <tbody role="rowgroup">${repeat(
      rows,
      keyOf,
      (row) =>
        html`<tr role="row">${columns.map(
          ({ title, cell, isNumber }) =>
            html`<td role="cell" class=${isNumber ? 'number' : nothing} data-title=${title}><div>${cell(row)}</div></td>`,
        )}</tr>`,
    )}</tbody>
  </table>`;
}
