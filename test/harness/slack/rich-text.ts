import type { Json } from './state.ts';

const URL_MAX = 3_000;
/** Slack documents no limit for a text in rich text; this one is that of a section. */
const TEXT_MAX = 3_000;
const INDENT_MAX = 8;
const STYLES = new Set(['bold', 'italic', 'strike', 'code']);

/** The first fault of one element of a `rich_text` block. */
export function faultOfRichText(element: Json): string | undefined {
  const elements = listOf(element.elements);
  if (elements.length === 0) return `${String(element.type)} has no elements`;
  switch (element.type) {
    case 'rich_text_section':
    case 'rich_text_quote':
    case 'rich_text_preformatted':
      return first(elements, faultOfSpan);
    case 'rich_text_list':
      if (element.style !== 'bullet' && element.style !== 'ordered') return 'a list is bullet or ordered';
      if (!isWithin(element.indent ?? 0, INDENT_MAX)) return `indent is 0 to ${INDENT_MAX}`;
      if (!isWithin(element.offset ?? 0, 1e9)) return 'offset is 0 or more';
      return first(elements, (item) =>
        item.type === 'rich_text_section' ? faultOfRichText(item) : 'an item is a section',
      );
    default:
      return `no element ${String(element.type)}`;
  }
}

function faultOfSpan({ type, text, url, style }: Json): string | undefined {
  const unknown = Object.keys((style ?? {}) as Json).find((name) => !STYLES.has(name));
  if (unknown !== undefined) return `no style ${unknown}`;
  const length = String(text ?? '').length;
  if (type === 'text')
    return length < 1 || length > TEXT_MAX ? `a text has 1 to ${TEXT_MAX} characters` : undefined;
  if (type !== 'link') return `no text ${String(type)}`;
  if (text !== undefined && (length < 1 || length > TEXT_MAX))
    return 'the text of a link is empty or too long';
  return !URL.canParse(String(url)) || String(url).length > URL_MAX ? 'invalid url' : undefined;
}

function isWithin(value: unknown, most: number): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most;
}

/** The first fault of a list. */
export function first(
  items: readonly Json[],
  faultOf: (item: Json) => string | undefined,
): string | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The items of a list of Block Kit. */
export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}
