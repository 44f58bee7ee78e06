import { readable } from '@parley/core/domain/readable';

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
type Hole = string | number | Html | undefined | readonly Html[];

/** A template of markup. Attribute values stand in double quotes; names of tags and attributes are never holes. */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  return new Html(parts, holes);
}

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
  return readable(String(hole)).replace(/[&<>"'`]/gu, (sign) => ESCAPES[sign] ?? '');
}
