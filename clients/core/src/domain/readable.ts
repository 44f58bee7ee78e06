// Matches control characters, lone surrogates, and what Unicode tells programs not to draw: direction marks and overrides,
// zero-width spaces, tags. It does not match line breaks, tabs, soft hyphens, joiners and variation selectors, because ordinary
// words and emoji contain them. The first group is the flag of a part of a country, which consists of tags; tags anywhere else
// are invisible.
const FLAG_OR_INVISIBLE =
  /(\u{1f3f4}[\u{e0030}-\u{e007a}]{3,6}\u{e007f})|(?![\t\n\r\xad\u200c\u200d]|\p{VS})[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu;

/** The source of a regular expression for such a flag. */
export function taggedFlag(): string | undefined {
  return FLAG_OR_INVISIBLE.source.split(')|')[0]?.slice(1);
}

/**
 * Makes untrusted text safe to show: each character that hides or reverses text is replaced by its code point, such as
 * `[U+202E]`. Hosted pages and the widget both use this, so that a text reads the same in both.
 */
export function readable(text: string): string {
  return text.replace(
    FLAG_OR_INVISIBLE,
    (character, flag?: string) =>
      flag ?? `[U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/** The same as `readable`, on one line, for names. */
export function readableLine(text: string): string {
  return readable(text.replace(/\s+/gu, ' ').trim());
}
