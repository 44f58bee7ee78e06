import { html, type TemplateResult } from 'lit';
import { ConsolePage } from '../kit/page.ts';
import { hrefOf } from '../place.ts';

/** Finds a person by the exact id, because there is no list of people. */
export class PeoplePage extends ConsolePage<true> {
  protected async load(): Promise<true> {
    return true;
  }

  protected isAbout(): boolean {
    return false;
  }

  protected heading(): TemplateResult {
    return html`<h1 tabindex="-1">${this.at.words.pages.people}</h1>`;
  }

  protected view(): TemplateResult {
    const { words } = this.at;
    return html`<form class="filters" role="search" @submit=${this.#onSubmit}>
      <label class="field wide">${words.userId}<input name="userId" maxlength="256" required autocomplete="off" spellcheck="false" /></label>
      <button class="button primary">${words.show}</button>
    </form>
    <p class="quiet">${words.exactId}</p>`;
  }

  readonly #onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget as HTMLFormElement).get('userId') ?? '').trim();
    if (id !== '') this.at.go(hrefOf('person', { id }));
  };
}
