import { readable } from '@parley/core/domain/readable';
import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminConversation } from '../api/replies.ts';
import { ConsolePage } from '../kit/page.ts';
import { badge, idText, outside, wordOf } from '../parts/texts.ts';
import { moment } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import { hrefOfTurn } from './turns.ts';

type ConversationTurn = AdminConversation['turns'][number];

/** A conversation with its turns, in order. */
export class ConversationPage extends ConsolePage<AdminConversation> {
  protected load(signal: AbortSignal): Promise<AdminConversation> {
    return this.at.api.call('GET /v1/admin/conversations/:conversationId', {
      params: { conversationId: this.place.id },
      query: { userId: this.#userId },
      signal,
    });
  }

  get #userId(): string | undefined {
    return this.place.query.get('userId') ?? undefined;
  }

  protected isAbout({ kind, userId }: LiveChange): boolean {
    return kind === 'turn' && userId === this.#userId;
  }

  protected heading(): TemplateResult {
    const { words } = this.at;
    const userId = this.#userId;
    return html`<h1 tabindex="-1">${words.pages.conversation} <span class="id">${idText(this.place.id)}</span></h1>
      ${userId === undefined ? nothing : html`<p><a href=${hrefOf('person', { id: userId })}>${outside(userId)}</a></p>`}`;
  }

  protected view({ turns }: AdminConversation): TemplateResult {
    return html`${turns.map((one) => this.#turnView(one))}`;
  }

  #turnView({ streamRequestId, turn, messages }: ConversationTurn): TemplateResult {
    const { words } = this.at;
    return html`<section class="panel" aria-labelledby=${streamRequestId}>
      <h2 id=${streamRequestId}>
        ${turn === undefined ? idText(streamRequestId) : html`<a href=${hrefOfTurn(turn)}>${outside(turn.agent)}</a> ${badge(turn.state, words.turnStates)}`}
      </h2>
      ${turn === undefined ? html`<p class="quiet">${words.turnIsGone}</p>` : html`<p class="quiet">${moment(turn.startedAt, words)} ${turn.endedAt === undefined ? nothing : html`– ${moment(turn.endedAt, words)}`}</p>`}
      ${
        messages === undefined
          ? html`<p class="quiet">${words.contentIsHidden}</p>`
          : messages.map(
              ({ role, text, isCut }) => html`<div class="message ${role}">
        <p class="quiet">${wordOf(words.messageRoles, role)}${isCut ? ` · ${words.cut}` : ''}</p><p class="words" dir="auto">${readable(text)}</p></div>`,
            )
      }
    </section>`;
  }
}
