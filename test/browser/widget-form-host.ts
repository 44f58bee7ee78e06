import { html, LitElement, type TemplateResult } from 'lit';
import { formStyles } from '../../clients/widget/src/form-styles.ts';
import { type FormPurpose, FormView } from '../../clients/widget/src/form-view.ts';
import { type Strings, stringsFor } from '../../clients/widget/src/strings.ts';
import { cardStyles } from '../../clients/widget/src/styles.ts';

/** A card with nothing in it but the form: runs in the page of the form's test. */
export class FormHost extends LitElement {
  static override styles = [...cardStyles, formStyles];
  /** Every content that was sent. */
  readonly sent: Record<string, unknown>[] = [];
  readonly view = new FormView(this, () => this.send());
  #isDisabled = false;

  ask(schema: unknown, purpose?: FormPurpose): Promise<boolean> {
    this.view.setSchema(schema, purpose);
    return this.again();
  }

  speak(lang: string, overrides?: Partial<Strings>): Promise<boolean> {
    this.view.setStrings(stringsFor(lang, overrides));
    return this.again();
  }

  disable(isDisabled: boolean): Promise<boolean> {
    this.#isDisabled = isDisabled;
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
      ${this.view.render(this.#isDisabled)}
      <div><button class="button primary" @click=${() => this.send()}>Send</button></div>
    </div>`;
  }
}

customElements.define('form-host', FormHost);
