/**
 * The base of all pages of the console: it reads their content and reads it again after changes. What a page shows is in its
 * subclass.
 */

import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { codeOf } from '../api/client.ts';
import type { LiveChange } from '../api/live.ts';
import { errorNote } from '../parts/notes.ts';
import type { ConsolePlace } from '../place.ts';
import type { PageContext } from './at.ts';

/** The interval at which the ages on a page are updated, in ms. */
const AGES_MS = 10_000;
/** The pause before a failed read is repeated, in ms. */
const AGAIN_MS = 5_000;

/**
 * A page of the console: what it reads, and how it shows that. After a change it reads again; during that read, or if it fails,
 * the page keeps its content. It has no shadow root, so that the document has one style sheet, one focus order and one
 * printable page.
 */
export abstract class ConsolePage<Content> extends LitElement {
  static override properties = { at: { attribute: false }, place: { attribute: false } };

  declare at: PageContext;
  declare place: ConsolePlace;

  #content: Content | undefined;
  #error: unknown;
  #shown = '';
  #reading: AbortController | undefined;
  /** True if something has changed since the current read began. */
  #isStale = false;
  #unsubscribe: (() => void) | undefined;
  #ages: ReturnType<typeof setInterval> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  /** Reads the content of the page. */
  protected abstract load(signal: AbortSignal): Promise<Content>;
  protected abstract view(content: Content): TemplateResult;
  /** Whether a change may concern the content of the page. */
  protected abstract isAbout(change: LiveChange): boolean;
  /** The heading, which is shown even before the first read has ended. */
  protected abstract heading(): TemplateResult;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#follow();
    this.#ages = setInterval(() => this.requestUpdate(), AGES_MS);
  }

  #follow(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = this.at.live.subscribe((changes) => {
      if (changes === undefined || changes.some((change) => this.isAbout(change))) void this.reload();
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe?.();
    this.#abandon();
    clearInterval(this.#ages);
  }

  /**
   * Reads the page again and shows the changes. A current read is not interrupted: with many changes, no read would ever end.
   */
  async reload(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#isStale = true;
      return;
    }
    clearTimeout(this.#again);
    const reading = new AbortController();
    this.#reading = reading;
    this.#isStale = false;
    this.ariaBusy = 'true';
    try {
      const content = await this.load(reading.signal);
      if (reading.signal.aborted) return;
      this.#content = content;
      this.#error = undefined;
    } catch (error) {
      if (reading.signal.aborted) return;
      this.#error = error;
      if (['unavailable', 'rate_limited', 'internal'].includes(codeOf(error)) && this.isConnected)
        this.#again = setTimeout(() => void this.reload(), AGAIN_MS);
    }
    this.#reading = undefined;
    this.requestUpdate();
    await this.updateComplete;
    if (this.#isStale) await this.reload();
    else if (this.#reading === undefined) this.ariaBusy = null;
  }

  /** Drops the current read, because the page now shows another place or was removed. */
  #abandon(): void {
    this.#reading?.abort();
    this.#reading = undefined;
    clearTimeout(this.#again);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('place') && !changed.has('at')) return;
    if (changed.get('at') !== undefined) this.#follow();
    // The content of one subject or tenant must never be shown under the heading of another.
    const subject = JSON.stringify([this.at.tenant, this.place.page, this.place.id]);
    if (subject !== this.#shown) this.#content = undefined;
    this.#shown = subject;
    this.#error = undefined;
    this.#abandon();
    void this.reload();
  }

  protected override render(): TemplateResult {
    const { words } = this.at;
    const [content, error] = [this.#content, this.#error];
    return html`
      <header class="head">${this.heading()}</header>
      ${error === undefined ? '' : errorNote(error, { words, again: () => void this.reload(), isKept: content !== undefined })}
      ${content === undefined ? (error === undefined ? html`<p class="quiet" role="status">${words.loading}</p>` : '') : this.view(content)}
    `;
  }
}
