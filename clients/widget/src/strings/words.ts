import type { ReactiveControllerHost } from 'lit';
import { type AllStrings, loadStrings, type Strings } from './strings.ts';

/** The words of an element: English, until those of the language of its place are there. */
export class Words<Table extends Strings> {
  readonly #host: ReactiveControllerHost & Element;
  readonly #english: Table;
  #loaded: AllStrings | undefined;
  #lang: string | undefined;

  constructor(host: ReactiveControllerHost & Element, english: Table) {
    this.#host = host;
    this.#english = english;
  }

  /** What holds now, with the page's own over it. Renders the host again when another language is there. */
  with(own: Partial<Table> | undefined): Table {
    const lang = languageOf(this.#host);
    if (lang !== this.#lang) {
      this.#lang = lang;
      this.#loaded = undefined;
      // Where the file is not to be had, English stays.
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

/** The language tag that holds for an element: its own `lang` or the nearest above, shadow roots crossed. */
function languageOf(element: Element): string | undefined {
  const marked = element.closest('[lang]');
  if (marked !== null) return marked.getAttribute('lang') ?? undefined;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? languageOf(root.host) : undefined;
}
