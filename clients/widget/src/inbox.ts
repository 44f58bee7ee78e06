/**
 * The inbox element: two live lists, their rows and their cards. Following the lists is in `inbox/list.ts`, and rendering rows
 * in `inbox/view.ts`.
 */

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Approval } from './approval.ts';
import { type ApprovalSettled, ENGLISH_APPROVAL } from './approvals.ts';
import type { Elicitation } from './elicitation.ts';
import { approvalsOf, type InboxKind, questionsOf } from './inbox/kinds.ts';
import type { InboxRecord } from './inbox/lines.ts';
import { createInboxList, type InboxList, type ListUpdate } from './inbox/list.ts';
import { type InboxRow, rowsOf } from './inbox/rows.ts';
import { inboxStyles } from './inbox/styles.ts';
import { type RowContext, rowView } from './inbox/view.ts';
import { type ElicitationServer, type ElicitationSettled, ENGLISH } from './index.ts';
import { ENGLISH_INBOX } from './strings/inbox.ts';
import { LocalizedStrings } from './strings/localized.ts';
import type { AllStrings } from './strings/strings.ts';

const NAME = 'elicitation-inbox';

/** Detail of the event `elicitation-inbox-change`. */
export interface InboxChange {
  /** The number of this person's open questions and approvals. */
  readonly waiting: number;
}

/**
 * `<elicitation-inbox>`: one person's open questions and approvals in all conversations, highest risk first. Each row expands
 * to its card. Only `server` is required. See docs/widget.md.
 */
export class ElicitationInbox extends LitElement {
  static override styles = inboxStyles;
  static override properties = {
    server: { attribute: false },
    strings: { attribute: false },
    theme: { reflect: true },
    collapsed: { type: Boolean, reflect: true },
  };

  /** The connection to Parley, with the person's token. */
  declare server: ElicitationServer | undefined;
  /** Replaces some of the widget's texts. */
  declare strings: Partial<AllStrings> | undefined;
  /** @default the page's `color-scheme` */
  declare theme: 'light' | 'dark' | undefined;
  /** True shows only the chip, which opens the list. */
  declare collapsed: boolean;

  readonly #language = new LocalizedStrings<AllStrings>(this, {
    ...ENGLISH,
    ...ENGLISH_INBOX,
    ...ENGLISH_APPROVAL,
  });
  readonly #expanded = new Set<string>();
  /** The ids of rows whose card has been shown; the card stays, with the typed values. */
  readonly #carded = new Set<string>();
  /** Ids of records that a card of this inbox settled. */
  readonly #settledHere = new Set<string>();
  #questions: InboxList<Elicitation> | undefined;
  #approvals: InboxList<Approval> | undefined;
  #showsRemembered = false;
  #lastWaiting: number | undefined;
  /** Text of the live region. */
  #announced = '';

  constructor() {
    super();
    this.collapsed = false;
  }

  /** The number of open questions and approvals; undefined before both lists have come. */
  get waiting(): number | undefined {
    const [questions, approvals] = [this.#questions?.waiting, this.#approvals?.waiting];
    return questions === undefined || approvals === undefined ? undefined : questions + approvals;
  }

  /** Focuses the first question, or the chip if there is none. */
  override focus(options?: FocusOptions): void {
    const first = this.collapsed ? null : this.renderRoot.querySelector<HTMLElement>('.disclosure');
    (first ?? this.renderRoot.querySelector<HTMLElement>('.chip'))?.focus(options);
  }

  static override get observedAttributes(): string[] {
    // biome-ignore lint/complexity/noThisInStatic: Lit prepares the class that the getter is called on
    return [...super.observedAttributes, 'lang'];
  }

  override attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    super.attributeChangedCallback(name, before, value);
    if (name === 'lang') this.requestUpdate();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#start();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#stop();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('server')) this.#switchTo(this.server);
    // When the list is collapsed, the focus must not disappear with it.
    const all = this.collapsed && changed.has('collapsed') ? this.renderRoot.querySelector('#all') : null;
    if (all?.matches(':focus-within')) this.renderRoot.querySelector<HTMLElement>('.chip')?.focus();
  }

  protected override updated(): void {
    const { waiting } = this;
    if (waiting === undefined || waiting === this.#lastWaiting) return;
    this.#lastWaiting = waiting;
    const detail: InboxChange = { waiting };
    this.dispatchEvent(new CustomEvent(`${NAME}-change`, { detail, bubbles: true, composed: true }));
  }

  protected override render(): TemplateResult {
    const words = this.#words();
    const { waiting } = this;
    const { connection = 'connecting' } = this.#questions ?? {};
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
          ${this.#listView(words)} ${this.#rememberedView(words)}
        </div>
        <div class="spoken" role="status">${this.#announced}</div>
      </section>
    `;
  }

  #listView(words: AllStrings): TemplateResult | typeof nothing {
    const { server } = this;
    const questions = this.#questions?.lines;
    const approvals = this.#approvals?.lines;
    if (questions === undefined || approvals === undefined || server === undefined) return nothing;
    const rows = rowsOf(questions, approvals);
    if (rows.length === 0) return html`<p class="empty" part="empty">${words.inboxEmpty}</p>`;
    return html`
      <ul role="list" part="list" aria-labelledby="heading">
        ${repeat(
          rows,
          ({ id }) => id,
          (row) => this.#rowView(row, { words, server, overrides: this.strings }),
        )}
      </ul>
    `;
  }

  /** The remembered approvals, which are read when they are first expanded. */
  #rememberedView(words: AllStrings): TemplateResult {
    const list = html`<remembered-approvals .server=${this.server} .strings=${this.strings}></remembered-approvals>`;
    return html`<details
      class="remembered"
      part="remembered"
      @toggle=${(event: Event) => {
        this.#showsRemembered = (event.target as HTMLDetailsElement).open;
        this.requestUpdate();
      }}
    >
      <summary>${words.rememberedTitle}</summary>
      ${this.#showsRemembered ? list : nothing}
    </details>`;
  }

  #rowView(row: InboxRow, shared: Pick<RowContext, 'words' | 'server' | 'overrides'>): TemplateResult {
    const { id } = row;
    return rowView(row, {
      ...shared,
      isExpanded: this.#expanded.has(id),
      hasCard: this.#carded.has(id),
      isHere: (recordId) => this.#settledHere.has(recordId),
      onToggle: (button) => this.#toggle(id, button),
      onSettled: ({ detail }) => this.#settled(detail),
    });
  }

  #toggle(id: string, button: HTMLElement): void {
    // Not every browser focuses a pressed button, and a hidden card must not keep the focus.
    button.focus();
    if (!this.#expanded.delete(id)) this.#expanded.add(id);
    this.#carded.add(id);
    this.requestUpdate();
  }

  #settled(settled: ElicitationSettled | ApprovalSettled): void {
    const id = 'approvalId' in settled ? settled.approvalId : settled.elicitationId;
    if (settled.here) this.#settledHere.add(id);
    if ('approvalId' in settled) this.#approvals?.recordEnd({ id, end: { status: settled.status } });
    else this.#questions?.recordEnd({ id, end: { status: settled.status } });
    this.requestUpdate();
  }

  #start(): void {
    this.#questions?.start();
    this.#approvals?.start();
  }

  #stop(): void {
    this.#questions?.stop();
    this.#approvals?.stop();
  }

  #switchTo(server: ElicitationServer | undefined): void {
    this.#stop();
    for (const known of [this.#expanded, this.#carded, this.#settledHere]) known.clear();
    this.#announced = '';
    this.#lastWaiting = undefined;
    this.#questions = server && this.#follow(questionsOf(server));
    this.#approvals = server && this.#follow(approvalsOf(server));
    if (this.isConnected) this.#start();
  }

  #follow<Item extends InboxRecord>(kind: InboxKind<Item>): InboxList<Item> {
    const list: InboxList<Item> = createInboxList<Item>({
      ...kind,
      isInUse: (id) => {
        const line = list.lines?.find((one) => one.id === id);
        return line !== undefined && this.#isInUse(kind.rowIdOf(line.item));
      },
      onUpdate: (update) => this.#onUpdate(update, kind),
    });
    return list;
  }

  #onUpdate<Item extends InboxRecord>(
    { arrived = [], ended, connection }: ListUpdate<Item>,
    kind: InboxKind<Item>,
  ): void {
    const words = this.#words();
    const [first] = arrived;
    if (arrived.length > 1) this.#announce(words.waitingLong(this.waiting ?? 0));
    else if (first !== undefined) this.#announce(kind.arrivalOf(first, words));
    // The card of an expanded row announces the end itself.
    if (ended !== undefined && !this.#expanded.has(kind.rowIdOf(ended)))
      this.#announce(kind.endOf(ended, words));
    if (connection === 'offline') this.#announce(words.connection(connection));
    this.requestUpdate();
  }

  /** Announces a text, even if it equals the last one. */
  #announce(text: string): void {
    this.#announced = this.#announced === text ? `${text}\u00a0` : text;
  }

  /** Whether the row has the focus or the pointer, so that it must not disappear. */
  #isInUse(id: string): boolean {
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
