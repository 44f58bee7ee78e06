import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { agentOf } from './card/head.ts';
import type { InboxItem } from './inbox/items.ts';
import { createInboxList, type InboxList, type InboxNews } from './inbox/list.ts';
import { inboxStyles } from './inbox/styles.ts';
import { endOf, type ItemContext, itemView, nameOf } from './inbox/view.ts';
import { type ElicitationServer, type ElicitationSettled, ENGLISH } from './index.ts';
import { ENGLISH_INBOX } from './strings/inbox.ts';
import type { AllStrings } from './strings/strings.ts';
import { Words } from './strings/words.ts';

const NAME = 'elicitation-inbox';

/** Detail of the event `elicitation-inbox-change`. */
export interface InboxChange {
  /** How many questions wait for this person. */
  readonly waiting: number;
}

/**
 * `<elicitation-inbox>`: all that waits for one person, over all conversations, newest first. Each line opens to the
 * card of its question. It needs `server`; all else has a default. See docs/widget.md.
 */
export class ElicitationInbox extends LitElement {
  static override styles = inboxStyles;
  static override properties = {
    server: { attribute: false },
    strings: { attribute: false },
    theme: { reflect: true },
    collapsed: { type: Boolean, reflect: true },
  };

  /** The way to Parley, with the token of whoever the questions are for. */
  declare server: ElicitationServer | undefined;
  /** Words in place of the widget's own. */
  declare strings: Partial<AllStrings> | undefined;
  /** Without it, as the page or the system has it. */
  declare theme: 'light' | 'dark' | undefined;
  /** Only the chip is there; it opens the list. */
  declare collapsed: boolean;

  readonly #language = new Words<AllStrings>(this, { ...ENGLISH, ...ENGLISH_INBOX });
  readonly #expanded = new Set<string>();
  /** Those whose card was shown once: it stays, with what was typed into it. */
  readonly #carded = new Set<string>();
  /** Those that a card of this inbox settled. */
  readonly #settledHere = new Set<string>();
  #list: InboxList | undefined;
  #told: number | undefined;
  /** What the live region says. */
  #said = '';

  constructor() {
    super();
    this.collapsed = false;
  }

  /** How many questions wait; nothing before the first list came. */
  get waiting(): number | undefined {
    return this.#list?.waiting;
  }

  /** To the newest question, else to the chip. */
  override focus(options?: FocusOptions): void {
    const first = this.collapsed ? null : this.renderRoot.querySelector<HTMLElement>('.disclosure');
    (first ?? this.renderRoot.querySelector<HTMLElement>('.chip'))?.focus(options);
  }

  static override get observedAttributes(): string[] {
    // biome-ignore lint/complexity/noThisInStatic: Lit gets the class ready on which it is asked
    return [...super.observedAttributes, 'lang'];
  }

  override attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    super.attributeChangedCallback(name, before, value);
    if (name === 'lang') this.requestUpdate();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#list?.start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#list?.stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('server')) this.#turnTo(this.server);
    // What hides must not take the focus with it.
    const all = this.collapsed && changed.has('collapsed') ? this.renderRoot.querySelector('#all') : null;
    if (all?.matches(':focus-within')) this.renderRoot.querySelector<HTMLElement>('.chip')?.focus();
  }

  protected override updated(): void {
    const waiting = this.#list?.waiting;
    if (waiting === undefined || waiting === this.#told) return;
    this.#told = waiting;
    const detail: InboxChange = { waiting };
    this.dispatchEvent(new CustomEvent(`${NAME}-change`, { detail, bubbles: true, composed: true }));
  }

  protected override render(): TemplateResult {
    const words = this.#words();
    const { connection = 'connecting', waiting } = this.#list ?? {};
    return html`
      <section class="inbox" part="inbox" aria-labelledby="heading">
        <div class="head" part="head">
          <h2 id="heading" part="heading" ?hidden=${this.collapsed}>${words.inboxTitle}</h2>
          <button
            class=${waiting ? 'chip some' : 'chip'}
            part="chip"
            type="button"
            title=${waiting === undefined ? nothing : words.waitingLong(waiting)}
            aria-expanded=${this.collapsed ? 'false' : 'true'}
            aria-controls="all"
            @click=${() => {
              this.collapsed = !this.collapsed;
            }}
          >
            ${waiting === undefined ? words.connection(connection) : words.waiting(waiting)}
          </button>
        </div>
        <div id="all" ?hidden=${this.collapsed}>
          <p class="quiet" part="connection">${words.connection(connection)}</p>
          ${this.#listView(words)}
        </div>
        <div class="spoken" role="status">${this.#said}</div>
      </section>
    `;
  }

  #listView(words: AllStrings): TemplateResult | typeof nothing {
    const { server } = this;
    const items = this.#list?.items;
    if (items === undefined || server === undefined) return nothing;
    if (items.length === 0) return html`<p class="empty" part="empty">${words.inboxEmpty}</p>`;
    return html`
      <ul role="list" part="list" aria-labelledby="heading">
        ${repeat(
          items,
          ({ elicitation }) => elicitation.elicitationId,
          (item) => this.#itemView(item, { words, server, overrides: this.strings }),
        )}
      </ul>
    `;
  }

  #itemView(item: InboxItem, shared: Pick<ItemContext, 'words' | 'server' | 'overrides'>): TemplateResult {
    const id = item.elicitation.elicitationId;
    return itemView(item, {
      ...shared,
      isExpanded: this.#expanded.has(id),
      hasCard: this.#carded.has(id),
      isHere: this.#settledHere.has(id),
      onToggle: (button) => this.#toggle(id, button),
      onSettled: ({ detail }) => this.#settled(detail),
    });
  }

  #toggle(id: string, button: HTMLElement): void {
    // Not every browser gives a pressed button the focus, and a card that is put away must not keep it.
    button.focus();
    if (!this.#expanded.delete(id)) this.#expanded.add(id);
    this.#carded.add(id);
    this.requestUpdate();
  }

  #settled({ elicitationId, status, here }: ElicitationSettled): void {
    if (here) this.#settledHere.add(elicitationId);
    this.#list?.end({ elicitationId, status });
    this.requestUpdate();
  }

  #turnTo(server: ElicitationServer | undefined): void {
    this.#list?.stop();
    for (const known of [this.#expanded, this.#carded, this.#settledHere]) known.clear();
    this.#said = '';
    this.#told = undefined;
    this.#list =
      server &&
      createInboxList({
        server,
        isHeld: (id) => this.#isHeld(id),
        onNews: (news) => this.#hear(news),
      });
    if (this.isConnected) this.#list?.start();
  }

  #hear({ arrived = [], ended, connection }: InboxNews): void {
    const words = this.#words();
    const [first] = arrived;
    if (arrived.length > 1) this.#say(words.waitingLong(this.waiting ?? 0));
    else if (first !== undefined) this.#say(words.arrived(agentOf(first, undefined, words)));
    // The card of an open line says it itself.
    if (ended !== undefined && !this.#expanded.has(ended.elicitationId)) {
      this.#say(`${nameOf(ended)}: ${endOf(ended, words, false)}`);
    }
    if (connection === 'offline') this.#say(words.connection(connection));
    this.requestUpdate();
  }

  /** Says it even if it is what was said last. */
  #say(text: string): void {
    this.#said = this.#said === text ? `${text}\u00a0` : text;
  }

  /** Nothing moves away from under a focus or a mouse. */
  #isHeld(id: string): boolean {
    const line = this.renderRoot.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (line === null) return false;
    return line.matches(':focus-within') || (matchMedia('(hover: hover)').matches && line.matches(':hover'));
  }

  #words(): AllStrings {
    return this.#language.with(this.strings);
  }
}

if (customElements.get(NAME) === undefined) customElements.define(NAME, ElicitationInbox);

declare global {
  interface HTMLElementTagNameMap {
    'elicitation-inbox': ElicitationInbox;
  }
  interface HTMLElementEventMap {
    'elicitation-inbox-change': CustomEvent<InboxChange>;
  }
}
