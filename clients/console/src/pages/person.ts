/** The page of one person, for operators who help that person. Lists over all people are not here, and do not exist. */

import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminPerson } from '../api/replies.ts';
import { mayAct } from '../kit/at.ts';
import { ConsolePage } from '../kit/page.ts';
import { emptyNote } from '../parts/notes.ts';
import { type TableColumn, tableView } from '../parts/table.ts';
import { badge, factList, idText, outside } from '../parts/texts.ts';
import { ago, numberIn } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import { eraseDialog } from './erase.ts';
import { approvalColumns, elicitationColumns } from './records.ts';
import { keyOfTurn, turnColumns } from './turns.ts';

interface PersonSection<Row> {
  readonly kind: 'elicitations' | 'approvals' | 'turns' | 'conversations' | 'accounts';
  readonly rows: readonly Row[];
  readonly columns: readonly TableColumn<Row>[];
  readonly keyOf: (row: Row) => string;
}

/** One person: what is waiting for them, their running turns, their accounts, and their use of quotas. */
export class PersonPage extends ConsolePage<AdminPerson> {
  protected load(signal: AbortSignal): Promise<AdminPerson> {
    return this.at.api.call('GET /v1/admin/people/:userId', { params: { userId: this.place.id }, signal });
  }

  protected isAbout({ userId }: LiveChange): boolean {
    return userId === this.place.id;
  }

  protected heading(): TemplateResult {
    const { words } = this.at;
    return html`<h1 tabindex="-1">${words.pages.person} <span class="id">${idText(this.place.id)}</span></h1>`;
  }

  protected view({
    elicitations,
    approvals,
    turns,
    conversations,
    accounts,
    ...rest
  }: AdminPerson): TemplateResult {
    const { at } = this;
    const erase = () => eraseDialog(at, this.place.id, () => void this.reload());
    return html`
      ${mayAct(at) ? html`<div class="actions"><button type="button" class="button danger" @click=${erase}>${at.words.erase}</button></div>` : nothing}
      <div class="columns">
        <div>
          ${this.#section({ kind: 'elicitations', rows: elicitations, columns: elicitationColumns(at, false), keyOf: (one) => one.elicitationId })}
          ${this.#section({ kind: 'approvals', rows: approvals, columns: approvalColumns(at, false), keyOf: (one) => one.approvalId })}
          ${this.#section({ kind: 'turns', rows: turns, columns: turnColumns(at, false), keyOf: keyOfTurn })}
        </div>
        <div>
          ${this.#quotas(rest)}
          ${this.#section({ kind: 'conversations', rows: conversations, columns: this.#conversationColumns(), keyOf: (one) => one.conversationId })}
          ${this.#section({ kind: 'accounts', rows: accounts, columns: this.#accountColumns(), keyOf: (one) => one.toolId })}
        </div>
      </div>
    `;
  }

  #section<Row>({ kind, rows, columns, keyOf }: PersonSection<Row>): TemplateResult {
    const { words } = this.at;
    const caption = words.ofPerson[kind];
    const shown = columns.filter(({ title }) => title !== words.person);
    const query = { userId: this.place.id, state: 'ended' };
    return html`<section class="panel" aria-labelledby=${kind}>
      <h2 id=${kind}>${caption}</h2>
      ${rows.length === 0 ? emptyNote(words.nothingThere) : tableView({ caption, columns: shown, rows, keyOf })}
      ${kind === 'elicitations' || kind === 'approvals' || kind === 'turns' ? html`<p class="more"><a href=${hrefOf(kind, { query })}>${words.showEnded}</a></p>` : nothing}
    </section>`;
  }

  #quotas({ quotas, isLinked, openStreams }: Pick<AdminPerson, 'quotas' | 'isLinked' | 'openStreams'>) {
    const { words } = this.at;
    const used = (name: keyof AdminPerson['quotas']) => {
      const { used, max } = quotas[name];
      return html`${numberIn(words.lang, used)} <span class="quiet">${words.ofMost(numberIn(words.lang, max))}</span>`;
    };
    return html`<section class="panel" aria-labelledby="use">
      <h2 id="use">${words.use}</h2>
      ${factList([
        [
          words.openStreams,
          openStreams.length === 0 ? words.none : openStreams.map((stream) => html`${outside(stream)} `),
        ],
        [words.channel, isLinked === undefined ? undefined : isLinked ? words.linked : words.notLinked],
        ...Object.keys(quotas).map((name) => {
          const key = name as keyof AdminPerson['quotas'];
          return [words.quotas[key], used(key)] as const;
        }),
      ])}
    </section>`;
  }

  #conversationColumns(): TableColumn<AdminPerson['conversations'][number]>[] {
    const { words, api } = this.at;
    const clock = { now: api.now(), lang: words.lang };
    return [
      {
        title: words.conversation,
        cell: ({ conversationId, title, isRunning }) =>
          html`<a href=${hrefOf('conversation', { id: conversationId, query: { userId: this.place.id } })}>${outside(title ?? conversationId)}</a>
            ${isRunning ? html`<span class="quiet">${words.turnStates.running}</span>` : nothing}`,
      },
      { title: words.began, cell: ({ latestTurnAt }) => ago(latestTurnAt, clock) },
    ];
  }

  #accountColumns(): TableColumn<AdminPerson['accounts'][number]>[] {
    const { words } = this.at;
    return [
      { title: words.account, cell: ({ service }) => outside(service) },
      { title: words.state, cell: ({ state }) => badge(state, words.accountStates) },
    ];
  }
}
