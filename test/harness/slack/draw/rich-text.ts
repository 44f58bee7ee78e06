import type { Json } from '../state.ts';
import { htmlOf } from './mrkdwn.ts';

const INDENT_PX = 26;
const TAGS: Readonly<Record<string, string>> = { code: 'code', strike: 's', italic: 'i', bold: 'b' };

/** One element of a `rich_text` block as HTML. Nothing in its texts is formatting. */
export function richTextHtml(element: Json): string {
  const { type, elements, border } = element;
  const frame = border === 1 ? ' class="bordered"' : '';
  switch (type) {
    case 'rich_text_section':
      return `<div dir="auto">${spansHtml(elements)}</div>`;
    case 'rich_text_quote':
      return `<blockquote dir="auto">${spansHtml(elements)}</blockquote>`;
    case 'rich_text_preformatted':
      return `<pre${frame}>${spansHtml(elements)}</pre>`;
    default:
      return listHtml(element);
  }
}

function listHtml({ style, elements, indent, offset, border }: Json): string {
  const level = Number(indent ?? 0);
  const items = (elements as Json[]).map((item, index) => {
    const mark = style === 'ordered' ? `${Number(offset ?? 0) + index + 1}.` : '•';
    return `<div class="item" data-level="${level}" style="margin-left: ${level * INDENT_PX}px"><span>${mark}</span><div dir="auto">${spansHtml(item.elements)}</div></div>`;
  });
  return border === 1 ? `<div class="bordered">${items.join('')}</div>` : items.join('');
}

function spansHtml(spans: unknown): string {
  return (spans as Json[]).map(spanHtml).join('');
}

function spanHtml({ type, text, url, style }: Json): string {
  const inner = Object.entries(TAGS).reduce(
    (html, [name, tag]) => ((style as Json | undefined)?.[name] === true ? `<${tag}>${html}</${tag}>` : html),
    htmlOf(String(text ?? url)),
  );
  return type === 'link' ? `<a href="${htmlOf(String(url))}">${inner}</a>` : inner;
}
