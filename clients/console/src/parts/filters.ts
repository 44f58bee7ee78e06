import { html, nothing, type TemplateResult } from 'lit';
import type { ConsoleStrings } from '../strings/en.ts';

/** A filter of a list, by its name in the address. */
export interface ConsoleFilter {
  readonly name: string;
  readonly label: string;
  /**
   * The choices, as pairs of value and word; absent for a filter that takes any text. Without a value in the address, the first
   * choice applies.
   */
  readonly choices?: readonly (readonly [string, string])[];
}

interface FilterProps {
  readonly words: ConsoleStrings;
  readonly shown: readonly ConsoleFilter[];
  /** Further filters, which are collapsed while none of them is set. */
  readonly more: readonly ConsoleFilter[];
  readonly query: URLSearchParams;
  readonly onChange: (query: Readonly<Record<string, string>>) => void;
}

/** The filters of a list. A choice applies at once, and a text when Enter is pressed. */
export function filtersView({ words, shown, more, query, onChange }: FilterProps): TemplateResult {
  const apply = (form: HTMLFormElement | null) => {
    if (form === null) return;
    const entries = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()] as const);
    onChange(Object.fromEntries(entries.filter(([, value]) => value !== '')));
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    apply(event.currentTarget as HTMLFormElement);
  };
  const onChoice = ({ target }: Event) => apply((target as HTMLSelectElement).form);
  const field = (filter: ConsoleFilter) => fieldView(filter, query.get(filter.name) ?? '', onChoice);
  const isMoreSet = more.some(({ name }) => query.has(name));
  return html`<form class="filters" role="search" aria-label=${words.filters} @submit=${onSubmit}>
    ${shown.map(field)}
    ${
      more.length === 0
        ? nothing
        : html`<details ?open=${isMoreSet}><summary>${words.moreFilters}</summary><div class="filters">${more.map(field)}</div></details>`
    }
    ${[...shown, ...more].every(({ choices }) => choices !== undefined) ? nothing : html`<button class="button">${words.apply}</button>`}
  </form>`;
}

function fieldView({ name, label, choices }: ConsoleFilter, value: string, onChoice: (event: Event) => void) {
  if (choices === undefined)
    return html`<label class="field">${label}<input name=${name} .value=${value} maxlength="256" autocomplete="off" spellcheck="false" /></label>`;
  return html`<label class="field">${label}<select name=${name} @change=${onChoice}>
    ${choices.map(([one, word]) => html`<option value=${one} ?selected=${one === value}>${word}</option>`)}
  </select></label>`;
}
