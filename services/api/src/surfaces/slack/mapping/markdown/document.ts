import MarkdownIt, { type Token } from 'markdown-it';
import { plainSpans, type Span, spansOf } from './spans.ts';
import { shownTable } from './table.ts';
import { createUnits, type OpenList, type Unit } from './units.ts';

/**
 * The longest text that is parsed, in characters; what follows is shown as it is written. The parser takes linear time, and
 * runs again while a text grows.
 */
const PARSED_MAX = 50_000;

/** Lists and quotes nested deeper than this are left out by the parser. */
const NESTING_MAX = 100;
/** How many characters of JSON a character may take on average, and a text in addition. A short item with code takes ten. */
const JSON_EACH = 16;
const JSON_BESIDE = 20_000;

const parser = new MarkdownIt({ linkify: true, maxNesting: NESTING_MAX });
// Addresses are links only where they say how they are opened, and are shown as they are written.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.normalizeLinkText = (url) => url;

/**
 * What a Markdown document shows in Slack, in units that fit any message. It is shown as it is written where it is nested too
 * deep, where it would fill many messages by its form alone, and where nothing of it would be seen.
 */
export function unitsOf(markdown: string): readonly Unit[] {
  return formed(markdown) ?? written(markdown);
}

function formed(markdown: string): readonly Unit[] | undefined {
  const tokens = parser.parse(markdown.slice(0, PARSED_MAX), {});
  if (tokens.some(({ level }) => level >= NESTING_MAX - 2)) return undefined;
  const walk = createWalk(JSON_BESIDE + JSON_EACH * markdown.length);
  for (const token of tokens) {
    walk.take(token);
    if (walk.isTooLong()) return undefined;
  }
  walk.takeText(plainSpans(markdown.slice(PARSED_MAX)));
  return walk.units.length === 0 ? undefined : walk.units;
}

function written(markdown: string): readonly Unit[] {
  const { units, paragraph } = createUnits();
  if (markdown.trim() !== '') paragraph(plainSpans(markdown), false);
  return units;
}

/** An item, of which `spans` are not put yet; or a quote. */
type Container =
  | { readonly type: 'item'; readonly list: OpenList; spans: Span[]; isPut: boolean }
  | { readonly type: 'quote' };

/** Goes through the tokens of a document. */
function createWalk(jsonMax: number) {
  const out = createUnits();
  const lists: OpenList[] = [];
  const containers: Container[] = [];
  /** The tokens of the table that is open. */
  let table: Token[] | undefined;
  let isHeading = false;

  const isQuoted = () => containers.some(({ type }) => type === 'quote');
  const newList = (style: OpenList['style'], start: number): OpenList => ({
    style,
    indent: lists.length,
    group: out.newGroup(),
    next: start - 1,
  });

  /** Puts what the open item has so far, before something that is no text of it. */
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
    const shown = shownTable(tokens);
    const list = newList('bullet', 1);
    if ('code' in shown) out.code(shown.code, isQuoted());
    else for (const item of shown.items) out.item(list, item, isQuoted());
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
    inline: ({ children }) => takeText(spansOf(children ?? [], isHeading ? { bold: true } : {})),
    fence: ({ content }) => out.code(content.replace(/\n$/u, ''), isQuoted()),
    code_block: ({ content }) => out.code(content.replace(/\n$/u, ''), isQuoted()),
    hr: () => out.rule(),
    table_open() {
      table = [];
    },
  };
  /** These stand beside the text of an item, not in it. */
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
    takeText,
    isTooLong: () => out.length() > jsonMax,
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

/** GitHub's box of a task, as a character. */
function withTask([first, ...more]: readonly Span[]): Span[] {
  if (first?.type !== 'text') return first === undefined ? [] : [first, ...more];
  const text = first.text.replace(/^\[ \] /u, '☐ ').replace(/^\[[xX]\] /u, '☑ ');
  return [{ ...first, text }, ...more];
}
