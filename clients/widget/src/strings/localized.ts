import type { ReactiveControllerHost } from 'lit';
import { type AllStrings, loadStrings, type Strings } from './strings.ts';

/** The texts of an element: English until those of its language are loaded. */
export class LocalizedStrings<Table extends Strings> {
  readonly #host: ReactiveControllerHost & Element;
  readonly #english: Table;
  #loaded: AllStrings | undefined;
  #lang: string | undefined;

  constructor(host: ReactiveControllerHost & Element, english: Table) {
    this.#host = host;
    this.#english = english;
  }

  /** The current texts, overridden by the page's own. When another language is loaded, the host is rendered again. */
  with(own: Partial<Table> | undefined): Table {
    const lang = languageOf(this.#host);
    if (lang !== this.#lang) {
      this.#lang = lang;
      this.#loaded = undefined;
      // If the file cannot be loaded, the texts stay English.
      loadStrings(lang)?.then(
        (table) => {
          if (lang !== this.#lang) return;
          this.#loaded = table;
          this.#host.requestUpdate();
        },
        () => undefined,
      );
    }
    return { ...this.#english, ...this.#loaded, ...own };
  }
}

/** The language of an element: its own `lang` or that of the nearest ancestor, across shadow roots. */
function languageOf(element: Element): string | undefined {
  const marked = element.closest('[lang]');
  if (marked !== null) return marked.getAttribute('lang') ?? undefined;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? languageOf(root.host) : undefined;
}
