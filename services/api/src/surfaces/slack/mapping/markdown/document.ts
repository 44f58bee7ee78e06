/** Converts a Markdown document to units that fit into Slack messages. Putting units into messages is in `blocks.ts`. */

import type { Token } from 'markdown-it';
import { NESTING_MAX, tokensOf } from './parser.ts';
import { plainSpans, type Span, spansOf } from './spans.ts';
import { shownTable } from './table.ts';
import { createUnits, type OpenList, type Unit } from './units.ts';

/** The average number of JSON characters that a character of Markdown may cause. A short item with code takes ten. */
const JSON_EACH = 16;
const JSON_BESIDE = 20_000;
/** The additional JSON that all tables of a text may cause, because their headings are repeated in each row. */
const TABLES_BESIDE = 60_000;

/**
 * A Markdown document as units for Slack, each of which fits into any message. The document is shown as plain text if it is
 * nested too deeply, if its form alone would fill many messages, or if nothing of it would be visible. If only a table would
 * fill many messages, only that table is shown as plain text.
 */
export function unitsOf(markdown: string): readonly Unit[] {
  return formed(markdown) ?? written(markdown);
}

function formed(markdown: string): readonly Unit[] | undefined {
  const tokens = tokensOf(markdown);
  if (tokens.some(({ level }) => level >= NESTING_MAX - 2)) return undefined;
  const walk = createWalk(markdown);
  for (const token of tokens) {
    walk.take(token);
    if (walk.isTooLong()) return undefined;
  }
  return walk.units.length === 0 ? undefined : walk.units;
}

/** The source text as units. */
export function written(markdown: string): readonly Unit[] {
  const { units, paragraph } = createUnits();
  if (markdown.trim() !== '') paragraph(plainSpans(markdown), false);
  return units;
}

/** A list item, whose `spans` are not emitted yet; or a quote. */
type Container =
  | { readonly type: 'item'; readonly list: OpenList; spans: Span[]; isPut: boolean }
  | { readonly type: 'quote' };

/** Walks through the tokens of a document. */
function createWalk(markdown: string) {
  const jsonMax = JSON_BESIDE + JSON_EACH * markdown.length;
  const lines = markdown.split(/\r\n?|\n/u);
  const out = createUnits();
  const room = { left: jsonMax };
  let tablesLeft = TABLES_BESIDE;
  let tablesJson = 0;
  const lists: OpenList[] = [];
  const containers: Container[] = [];
  /** The tokens of the current table. */
  let table: Token[] | undefined;
  let isHeading = false;

  const isQuoted = () => containers.some(({ type }) => type === 'quote');
  const newList = (style: OpenList['style'], start: number): OpenList => ({
    style,
    indent: lists.length,
    group: out.newGroup(),
    next: start - 1,
  });

  /** Emits the text of the current item, before something that is not part of this text. */
  function putItem(): void {
    const item = containers.at(-1);
    if (item?.type !== 'item') return;
    if (!item.isPut) out.item(item.list, item.spans, isQuoted());
    else if (item.spans.length > 0) out.paragraph(item.spans, isQuoted());
    item.isPut = true;
    item.spans = [];
  }

  function takeText(spans: readonly Span[]): void {
    const container = containers.at(-1);
    if (container?.type !== 'item') out.paragraph(spans, isQuoted());
    else if (container.spans.length === 0) container.spans.push(...withTask(spans));
    else container.spans.push(...plainSpans('\n'), ...spans);
  }

  function putTable(tokens: readonly Token[]): void {
    const source = lines.slice(...(tokens[0]?.map ?? [0, 0])).join('\n');
    const own = JSON_EACH * source.length;
    const shown = shownTable(tokens, own + tablesLeft);
    if (shown === undefined) {
      out.paragraph(plainSpans(source), isQuoted());
      return;
    }
    const before = out.length();
    const list = newList('bullet', 1);
    if ('code' in shown) out.code(shown.code, isQuoted());
    else for (const item of shown.items) out.item(list, item, isQuoted());
    const json = out.length() - before;
    tablesJson += json;
    tablesLeft = Math.max(0, tablesLeft - Math.max(0, json - own));
  }

  const TAKES: Readonly<Record<string, (token: Token) => void>> = {
    bullet_list_open: () => void lists.push(newList('bullet', 1)),
    ordered_list_open: (token) =>
      void lists.push(newList('ordered', Number(token.attrGet('start') ?? 1) || 1)),
    bullet_list_close: () => void lists.pop(),
    ordered_list_close: () => void lists.pop(),
    list_item_open() {
      const list = lists.at(-1);
      if (list !== undefined) containers.push({ type: 'item', list, spans: [], isPut: false });
    },
    list_item_close() {
      putItem();
      containers.pop();
      const list = lists.at(-1);
      if (list !== undefined) list.next += 1;
    },
    blockquote_open: () => void containers.push({ type: 'quote' }),
    blockquote_close: () => void containers.pop(),
    heading_open() {
      isHeading = true;
    },
    heading_close() {
      isHeading = false;
    },
    inline: ({ children }) => takeText(spansOf(children ?? [], room, isHeading ? { bold: true } : {})),
    fence: ({ content }) => out.code(content.replace(/\n$/u, ''), isQuoted()),
    code_block: ({ content }) => out.code(content.replace(/\n$/u, ''), isQuoted()),
    hr: () => out.rule(),
    definition: ({ content }) => takeText(plainSpans(content)),
    table_open(token) {
      table = [token];
    },
  };
  /** Tokens that stand beside the text of an item, not in it. */
  const BESIDE = new Set([
    'bullet_list_open',
    'ordered_list_open',
    'blockquote_open',
    'fence',
    'code_block',
    'hr',
    'table_open',
  ]);

  return {
    units: out.units,
    isTooLong: () => room.left < 0 || out.length() - tablesJson > jsonMax,
    take(token: Token): void {
      if (token.level === 0 && token.nesting >= 0) out.newBlock();
      if (BESIDE.has(token.type)) putItem();
      if (token.type === 'table_close') {
        putTable(table ?? []);
        table = undefined;
      } else if (table !== undefined) table.push(token);
      else TAKES[token.type]?.(token);
    },
  };
}

/** Replaces GitHub's task box by a character. */
function withTask([first, ...more]: readonly Span[]): Span[] {
  if (first?.type !== 'text') return first === undefined ? [] : [first, ...more];
  const text = first.text.replace(/^\[ \] /u, '☐ ').replace(/^\[[xX]\] /u, '☑ ');
  return [{ ...first, text }, ...more];
}
