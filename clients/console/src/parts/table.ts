import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

/** A column of a table: its head, and how it shows a row. */
export interface TableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => unknown;
  /** True for numbers, which are right-aligned so that their digits line up. */
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  /** A description of the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** The key of a row, by which it keeps its element and so the focus when other rows appear or disappear. */
  readonly keyOf: (row: Row) => string;
}

/**
 * A table. On a narrow page, each row is a block with the heads beside its cells; explicit roles keep it a table for screen
 * readers.
 */
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
