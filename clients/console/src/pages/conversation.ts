import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminTurn } from '../api/replies.ts';
import { ConsolePage } from '../kit/page.ts';
import { emptyNote } from '../parts/notes.ts';
import { tableView } from '../parts/table.ts';
import { idText, outside } from '../parts/texts.ts';
import { hrefOf } from '../place.ts';
import { keyOfTurn, turnColumns } from './turns.ts';

/** The turns of a conversation, as far as they are kept. */
interface ReadConversation {
  readonly turns: readonly AdminTurn[];
  /** More of them than one page holds have ended. */
  readonly hasMore: boolean;
}

export class ConversationPage extends ConsolePage<ReadConversation> {
  protected async load(signal: AbortSignal): Promise<ReadConversation> {
    const { api } = this.at;
    const of = { conversationId: this.place.id, userId: this.#userId };
    const [ended, open] = await Promise.all([
      api.call('GET /v1/admin/turns', { query: { ...of, state: 'ended' }, signal }),
      api.call('GET /v1/admin/turns', { query: of, signal }),
    ]);
    // A turn that ends between the two reads stands in both.
    const turns = new Map([...open.turns, ...ended.turns].map((turn) => [keyOfTurn(turn), turn]));
    return {
      turns: [...turns.values()].sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt)),
      hasMore: ended.nextCursor !== undefined || open.nextCursor !== undefined,
    };
  }

  get #userId(): string | undefined {
    return this.place.query.get('userId') ?? undefined;
  }

  protected isAbout({ kind, userId }: LiveChange): boolean {
    return kind === 'turn' && (userId === undefined || userId === this.#userId);
  }

  protected heading(): TemplateResult {
    const { words } = this.at;
    const userId = this.#userId;
    return html`<h1 tabindex="-1">${words.pages.conversation} <span class="id">${idText(this.place.id)}</span></h1>
      ${userId === undefined ? nothing : html`<p><a href=${hrefOf('person', { id: userId })}>${outside(userId)}</a></p>`}`;
  }

  protected view({ turns, hasMore }: ReadConversation): TemplateResult {
    const { words } = this.at;
    return html`
      ${hasMore ? html`<p class="quiet">${words.latestTurns}</p>` : nothing}
      ${turns.length === 0 ? emptyNote(words.nothingFound) : tableView({ caption: words.pages.turns, columns: turnColumns(this.at, true), rows: turns, keyOf: keyOfTurn })}
    `;
  }
}
