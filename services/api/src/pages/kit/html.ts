import { readable } from '@parley/core/domain/readable';

/** Markup whose inserted values are already escaped. Only `html` creates it. */
export class Html {
  // This is private, so that no plain object can pass for markup.
  readonly #markup: string;

  constructor(parts: TemplateStringsArray, holes: readonly Hole[]) {
    this.#markup = String.raw({ raw: parts }, ...holes.map(markupOf));
  }

  toString(): string {
    return this.#markup;
  }
}

/**
 * A value that can be inserted into a template. Text and numbers are escaped; markup and lists of markup are inserted
 * unchanged.
 */
type Hole = string | number | Html | undefined | readonly Html[];

/** A template of markup. Attribute values are in double quotes. Names of tags and attributes are never inserted. */
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
