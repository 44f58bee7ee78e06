// Controls, lone surrogates, and what Unicode tells programs not to draw: marks and overrides of direction, blanks without
// width, tags. Line breaks, tabs, soft hyphens, joiners and variation selectors stay, because ordinary words and emoji
// contain them.
const INVISIBLE = /(?![\t\n\r\xad\u200c]|\u200d|\p{VS})[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu;

/**
 * Foreign text made safe to show to a person: each character that hides or reverses text is replaced by its code point, such
 * as `[U+202E]`. Hosted pages and the widget both use it, so that a text reads the same in both.
 */
export function readable(text: string): string {
  return text.replace(
    INVISIBLE,
    (character) => `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/** The same on one line, for names. */
export function readableLine(text: string): string {
  return readable(text.replace(/\s+/gu, ' ').trim());
}
