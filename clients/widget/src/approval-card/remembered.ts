/**
 * The element that lists remembered approvals and revokes them. It only needs the server object; making an approval remembered
 * is a choice in the approval card.
 */

import type { RememberedApproval } from '@parley/core';
import { readableLine } from '@parley/core/domain/readable';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { noteView } from '../card/note.ts';
import { cardStyles } from '../card/styles.ts';
import { css } from '../css.ts';
import type { ApprovalServer } from '../server/type.ts';
import { ENGLISH_APPROVAL } from '../strings/approval.ts';
import { ENGLISH } from '../strings/en.ts';
import { LocalizedStrings } from '../strings/localized.ts';
import { button } from './call.ts';
import type { CardStrings } from './texts.ts';

const rememberedStyles = css`
  .remembered {
    display: grid;
    gap: 0.5rem;
    margin: 0;
    padding: 0;
    list-style: none;
  }
  li {
    display: flex;
    flex-wrap: wrap;
    gap: 0 1rem;
    align-items: center;
    justify-content: space-between;
  }
  li > div {
    min-inline-size: 0;
    overflow-wrap: anywhere;
  }
`;

/** `<remembered-approvals>`: one person's remembered approvals, and a button to revoke each. Only `server` is required. */
export class RememberedApprovals extends LitElement {
  static override styles = [cardStyles, rememberedStyles];
  static override properties = {
    server: { attribute: false },
    strings: { attribute: false },
    lang: { reflect: true },
    theme: { reflect: true },
  };

  declare server: ApprovalServer | undefined;
  /** Replaces some of the widget's texts. */
  declare strings: Partial<CardStrings> | undefined;
  /** @default the page's `color-scheme` */
  declare theme: 'light' | 'dark' | undefined;

  readonly #language = new LocalizedStrings<CardStrings>(this, { ...ENGLISH, ...ENGLISH_APPROVAL });
  #listed: readonly RememberedApproval[] | undefined;
  #hasFailed = false;
  #hasRevokeFailed = false;
  readonly #revoking = new Set<string>();
  /** Text of the live region. */
  #announced = '';

  /** Reads the list again. */
  async refresh(): Promise<void> {
    const { server } = this;
    try {
      const listed = await server?.listRemembered();
      if (server !== this.server) return;
      this.#listed = listed;
      this.#hasFailed = false;
    } catch {
      if (server !== this.server) return;
      this.#hasFailed = true;
    }
    this.requestUpdate();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('server')) return;
    this.#listed = undefined;
    this.#hasFailed = false;
    this.#hasRevokeFailed = false;
    this.#revoking.clear();
    this.#announced = '';
    if (this.server !== undefined) void this.refresh();
  }

  protected override render(): TemplateResult {
    const words = this.#language.with(this.strings);
    return html`
      ${
        this.#hasFailed
          ? html`${noteView('danger', 'alert', [words.rememberedFailed])}${button('retry', words.tryAgain, false, () => void this.refresh())}`
          : nothing
      }
      ${this.#hasRevokeFailed ? noteView('danger', 'alert', [words.revokeFailed]) : nothing}
      ${this.#listView(words)}
      <div class="said" role="status">${this.#announced}</div>
    `;
  }

  #listView(words: CardStrings): TemplateResult {
    if (this.#listed === undefined)
      return html`<p class="quiet">${this.#hasFailed ? nothing : words.loading}</p>`;
    if (this.#listed.length === 0)
      return html`<p class="quiet" part="empty" tabindex="-1">${words.rememberedEmpty}</p>`;
    return html`<ul class="remembered" role="list" aria-label=${words.rememberedTitle}>${this.#listed.map((one) => this.#itemView(one, words))}</ul>`;
  }

  #itemView(one: RememberedApproval, words: CardStrings): TemplateResult {
    const { grantId, agent, server, serverTitle = server, tool, conversationId, expiresAt } = one;
    const isConversation = conversationId !== undefined;
    const scope = words.rememberedScope({ isConversation, expiresAt: new Date(expiresAt) });
    const name = readableLine(tool);
    return html`<li data-id=${grantId}>
      <div>
        <div id="tool-${grantId}"><code>${name}</code></div>
        <div class="quiet"><bdi>${readableLine(agent)}</bdi> · <bdi>${words.toolOf(readableLine(serverTitle))}</bdi> · ${scope}</div>
      </div>
      <button class="button" part="revoke" type="button" aria-describedby="tool-${grantId}" aria-disabled=${this.#revoking.has(grantId)}
        @click=${() => void this.#revoke(one)}>${words.revoke}</button>
    </li>`;
  }

  async #revoke({ grantId, tool }: RememberedApproval): Promise<void> {
    const { server } = this;
    if (server === undefined || this.#revoking.has(grantId)) return;
    const at = this.#listed?.findIndex((one) => one.grantId === grantId) ?? 0;
    this.#revoking.add(grantId);
    this.#hasRevokeFailed = false;
    this.#announced = '';
    this.requestUpdate();
    // An approval that is not found has been revoked or has expired.
    const isRevoked = await server.revokeRemembered(grantId).then(
      () => true,
      (error) => error.code === 'not_found',
    );
    if (server !== this.server) return;
    this.#revoking.delete(grantId);
    await this.refresh();
    if (server !== this.server) return;
    const words = this.#language.with(this.strings);
    this.#hasRevokeFailed = !isRevoked;
    this.#announced = isRevoked ? words.revoked(readableLine(tool)) : words.revokeFailed;
    this.requestUpdate();
    await this.updateComplete;
    // The pressed button, or the one that took its place.
    const buttons = [...this.renderRoot.querySelectorAll<HTMLElement>('[part=revoke]')];
    const pressed = this.#listed?.findIndex((one) => one.grantId === grantId) ?? -1;
    const next = buttons[pressed] ?? buttons[at] ?? buttons.at(-1);
    (next ?? this.renderRoot.querySelector<HTMLElement>('[part=empty]'))?.focus();
  }
}
