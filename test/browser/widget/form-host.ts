import { html, LitElement, type TemplateResult } from 'lit';
import { cardStyles } from '../../../clients/widget/src/card/styles.ts';
import { formStyles } from '../../../clients/widget/src/form/styles.ts';
import { type FormPurpose, FormView } from '../../../clients/widget/src/form/view.ts';
import { ENGLISH } from '../../../clients/widget/src/strings/en.ts';
import { loadStrings, type Strings } from '../../../clients/widget/src/strings/strings.ts';

/** A card with only the form; runs in the page of the form's test. */
export class FormHost extends LitElement {
  static override styles = [cardStyles, formStyles];
  /** Every content that was sent. */
  readonly sent: Record<string, unknown>[] = [];
  readonly view = new FormView(this, { onSubmit: () => this.send() });
  #strings: Strings = ENGLISH;
  #isHeld = false;

  ask(schema: unknown, purpose?: FormPurpose): Promise<boolean> {
    this.view.setSchema(schema, purpose);
    return this.again();
  }

  async speak(lang: string): Promise<boolean> {
    this.#strings = (await loadStrings(lang)) ?? ENGLISH;
    return this.again();
  }

  hold(isHeld: boolean): Promise<boolean> {
    this.#isHeld = isHeld;
    return this.again();
  }

  again(): Promise<boolean> {
    this.requestUpdate();
    return this.updateComplete;
  }

  send(): void {
    const result = this.view.submit();
    if (result.ok) this.sent.push(result.content);
  }

  protected override render(): TemplateResult {
    return html`<div class="card">
      ${this.view.render(this.#isHeld, this.#strings)}
      <div><button class="button primary" @click=${() => this.send()}>Send</button></div>
    </div>`;
  }
}

customElements.define('form-host', FormHost);
