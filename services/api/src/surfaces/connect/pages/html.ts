/** Markup whose holes are escaped already. Only `html` makes it. */
export class Html {
  // Private, so that no plain object can pass for markup.
  readonly #markup: string;

  constructor(parts: TemplateStringsArray, holes: readonly Hole[]) {
    this.#markup = String.raw({ raw: parts }, ...holes.map(markupOf));
  }

  toString(): string {
    return this.#markup;
  }
}

/** What may stand in a template: text and numbers are escaped, markup and lists of it go in as they are. */
export type Hole = string | number | Html | undefined | readonly Html[];

/** A template of markup. Attribute values stand in double quotes; names of tags and attributes are never holes. */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return new Html(parts, holes);
}

/** `text` with what a person cannot see made visible: controls and bidirectional controls as U+FFFD. */
export function shown(text: string): string {
  return text.toWellFormed().replace(UNSEEN, '\ufffd');
}

// Line breaks and tabs stay. Marks (U+200E, U+200F) stay too: Arabic and Hebrew need them, and they turn nothing round.
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u202a-\u202e\u2066-\u2069]/gu;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function markupOf(hole: Hole): string {
  if (hole === undefined) return '';
  if (hole instanceof Html) return hole.toString();
  if (typeof hole === 'object') return hole.map(markupOf).join('');
  return shown(String(hole)).replace(/[&<>"'`]/gu, (sign) => ESCAPES[sign] ?? '');
}
