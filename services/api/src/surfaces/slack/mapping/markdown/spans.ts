/** Converts the inline parts of Markdown to Slack's rich text. Blocks are in `document.ts`, tables in `table.ts`. */

import type { RichTextElement, RichTextLink, RichTextText } from '@slack/types';
import type { Token } from 'markdown-it';
import { jsonLength, piecesOf } from '../text.ts';

/** A piece of text in one style. Slack does not look for mentions, links or formatting in it. */
export type Span = RichTextText | RichTextLink;
/** Bold, italic, strikethrough or code. */
type SpanStyle = NonNullable<RichTextText['style']>;

/** The maximum length of a piece, as JSON. */
const SPAN_MAX = 2_500;
/** The maximum lengths of an address and of a link's text, as JSON. */
const LINK_MAX = 2_000;
const PROTOCOLS = new Set(['http:', 'https:', 'mailto:']);
const STYLES: Readonly<Record<string, keyof SpanStyle>> = { strong: 'bold', em: 'italic', s: 'strike' };

/**
 * How many characters of texts and addresses may still be shown. If it becomes negative, the text was cut because it is too
 * long.
 */
export interface SpanRoom {
  left: number;
}

/** The content of a paragraph, a heading or a cell. */
export function spansOf(tokens: readonly Token[], room: SpanRoom, style: SpanStyle = {}): Span[] {
  const spans: Span[] = [];
  const styles = [style];
  let link: OpenLink | undefined;

  function add(text: string, url = link?.url, more: SpanStyle = {}): void {
    room.left -= text.length + (url?.length ?? 0);
    if (room.left >= 0) spans.push(...cut(text, { ...styles.at(-1), ...more }, openable(url)));
  }

  const TAKES: Readonly<Record<string, (token: Token) => void>> = {
    text: ({ content }) => add(content),
    code_inline: ({ content }) => add(content, link?.url, { code: true }),
    softbreak: () => add('\n'),
    hardbreak: () => add('\n'),
    image({ attrs, content }) {
      const url = link?.url ?? attrOf(attrs, 'src');
      add(content || url, url);
    },
    link_open({ attrs, markup }) {
      link = { url: attrOf(attrs, 'href'), isWritten: markup !== '', from: spans.length };
    },
    link_close() {
      const ended = link;
      link = undefined;
      if (ended === undefined || ended.isWritten) return;
      if (spans.length === ended.from) add(ended.url, ended.url);
      else if (!spans.slice(ended.from).some(({ type }) => type === 'link')) add(` (${ended.url})`);
    },
  };
  for (const token of tokens) {
    if (room.left < 0) break;
    const { type, tag, nesting, content } = token;
    const take = TAKES[type];
    if (take !== undefined) take(token);
    else if (nesting === 1) styles.push({ ...styles.at(-1), ...styleOf(tag) });
    else if (nesting === -1) styles.pop();
    else add(content);
  }
  return merged(spans);
}

/** A link whose text is still to come. */
interface OpenLink {
  readonly url: string;
  /** True if its text is its address. */
  readonly isWritten: boolean;
  /** How many spans precede it. */
  readonly from: number;
}

/** Text without formatting. */
export function plainSpans(text: string, style: SpanStyle = {}): Span[] {
  return cut(text, style, undefined);
}

/** Spans in rows of at most `most` characters of JSON. */
export function rowsOf(spans: readonly Span[], most: number): Span[][] {
  const rows: Span[][] = [];
  let left = 0;
  for (const span of spans) {
    const size = JSON.stringify(span).length;
    if (size > left || rows.length === 0) {
      rows.push([]);
      left = most;
    }
    rows.at(-1)?.push(span);
    left -= size;
  }
  return rows;
}

/** The visible text of spans. */
export function textOfSpans(spans: readonly RichTextElement[]): string {
  return spans
    .map((span) => (span.type === 'text' ? span.text : span.type === 'link' ? (span.text ?? span.url) : ''))
    .join('');
}

function cut(text: string, style: SpanStyle, url: string | undefined): Span[] {
  if (text === '') return [];
  const styled = Object.keys(style).length === 0 ? {} : { style };
  if (url !== undefined && jsonSize(text) <= LINK_MAX)
    return [{ type: 'link', url, ...(text !== url && { text }), ...styled }];
  // A character takes at most six characters in JSON.
  const pieces = text.length * 6 <= SPAN_MAX ? [text] : piecesOf(text, SPAN_MAX, jsonLength);
  return pieces.map((piece) => ({ type: 'text', text: piece, ...styled }));
}

function styleOf(tag: string): SpanStyle {
  const name = STYLES[tag];
  return name === undefined ? {} : { [name]: true };
}

function jsonSize(text: string): number {
  return JSON.stringify(text).length - 2;
}

/** An address that Slack accepts for a link. Undefined for one because of which it would refuse the whole message. */
function openable(url: string | undefined): string | undefined {
  if (url === undefined || jsonSize(url) > LINK_MAX || !URL.canParse(url)) return undefined;
  return PROTOCOLS.has(new URL(url).protocol) ? url : undefined;
}

function attrOf(attrs: Token['attrs'], name: string): string {
  return String(attrs?.find(([key]) => key === name)?.[1] ?? '');
}

/** Merges successive spans of the same style. */
function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    if (
      last?.type === 'text' &&
      span.type === 'text' &&
      JSON.stringify(last.style) === JSON.stringify(span.style) &&
      last.text.length + span.text.length < SPAN_MAX / 2
    )
      result[result.length - 1] = { ...last, text: last.text + span.text };
    else result.push(span);
  }
  return result;
}
