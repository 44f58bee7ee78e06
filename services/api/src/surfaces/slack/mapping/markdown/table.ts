/** Shows Markdown tables in Slack, which has none. Other blocks are in `document.ts`. */

import type { Token } from 'markdown-it';
import { clipped } from '../text.ts';
import { plainSpans, type Span, type SpanRoom, spansOf, textOfSpans } from './spans.ts';

/** The maximum width of a table that is drawn in columns. */
const WIDTH_MAX = 72;
/** The maximum length of a heading that precedes each cell of its column. */
const LABEL_MAX = 80;
/** Characters that are one column wide in a fixed-width font, so that columns are aligned. */
const NARROW = /^[\u0020-\u007e\u00a1-\u024f\u2010-\u2026\u20ac]*$/u;

interface Table {
  /** The cells. The first row contains the headings. */
  readonly rows: readonly (readonly Span[])[][];
  /** `text-align` of each column. */
  readonly aligns: readonly string[];
}

/**
 * A table in a form that Slack can show: as `code` in columns; or as `items`, one for each row, if it is wide, contains links,
 * or contains characters whose width differs by font or that run from right to left.
 */
type ShownTable = { readonly code: string } | { readonly items: readonly Span[][] };

/**
 * Reads the tokens from `table_open` to `table_close`. Undefined for a table that takes more than `most` characters of JSON.
 */
export function shownTable(tokens: readonly Token[], most: number): ShownTable | undefined {
  const table = tableOf(tokens, { left: most });
  if (table === undefined) return undefined;
  const code = codeOf(table);
  if (code !== undefined) return code.code.length > most ? undefined : code;
  const items = itemsOf(table, most);
  return items && { items };
}

function tableOf(tokens: readonly Token[], room: SpanRoom): Table | undefined {
  const rows: Span[][][] = [];
  const aligns: string[] = [];
  for (const token of tokens) {
    if (token.type === 'tr_open') rows.push([]);
    if (token.type === 'inline') rows.at(-1)?.push(withBreaks(spansOf(token.children ?? [], room)));
    if (room.left < 0) return undefined;
    if (token.type === 'th_open') aligns.push(/\w+$/u.exec(String(token.attrGet('style')))?.[0] ?? 'left');
  }
  return { rows, aligns };
}

/** Converts line breaks in a cell. Markdown has no other notation for them there. */
function withBreaks(spans: readonly Span[]): Span[] {
  return spans.map((span) =>
    span.type === 'text' && span.style?.code !== true
      ? { ...span, text: span.text.replaceAll(/<br ?\/?>/giu, '\n') }
      : span,
  );
}

function codeOf({ rows, aligns }: Table): { readonly code: string } | undefined {
  if (rows.flat(2).some(({ type }) => type === 'link')) return undefined;
  const texts = rows.map((row) => row.map(textOfSpans));
  if (texts.flat().some((text) => !NARROW.test(text))) return undefined;
  const widths = aligns.map((_, at) => texts.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 1));
  if (widths.reduce((sum, width) => sum + width + 3, -3) > WIDTH_MAX) return undefined;
  const [head = '', ...lines] = texts.map((row) =>
    widths
      .map((width, at) => aligned(row[at] ?? '', width, aligns[at]))
      .join(' | ')
      .trimEnd(),
  );
  return { code: [head, widths.map((width) => '-'.repeat(width)).join('-+-'), ...lines].join('\n') };
}

function aligned(text: string, width: number, align: string | undefined): string {
  if (align === 'right') return text.padStart(width);
  if (align !== 'center') return text.padEnd(width);
  return text.padStart(text.length + Math.floor((width - text.length) / 2)).padEnd(width);
}

function itemsOf({ rows: [head = [], ...rows] }: Table, most: number): Span[][] | undefined {
  // A table without rows consists only of its headings.
  if (rows.length === 0) return head.map((cell) => [...cell]);
  const labels = head.map((heading) => plainSpans(labelOf(heading), { bold: true }));
  const items: Span[][] = [];
  let left = most;
  for (const row of rows) {
    const item = row
      .map((cell, at) => (cell.length === 0 ? [] : [...(labels[at] ?? []), ...cell]))
      .filter((cell) => cell.length > 0)
      .flatMap((cell, at) => [...plainSpans(at === 0 ? '' : '\n'), ...cell]);
    left -= JSON.stringify(item).length;
    if (left < 0) return undefined;
    items.push(item);
  }
  return items;
}

function labelOf(heading: readonly Span[]): string {
  const text = clipped(textOfSpans(heading), LABEL_MAX);
  return text === '' ? '' : `${text}: `;
}
