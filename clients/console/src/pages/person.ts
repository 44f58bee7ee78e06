import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminApproval, AdminElicitation, AdminTurn } from '../api/replies.ts';
import { ConsolePage } from '../kit/page.ts';
import { emptyNote } from '../parts/notes.ts';
import { type TableColumn, tableView } from '../parts/table.ts';
import { idText } from '../parts/texts.ts';
import { hrefOf, type PageName } from '../place.ts';
import { approvalColumns, elicitationColumns } from './records.ts';
import { keyOfTurn, turnColumns } from './turns.ts';

interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** What waits for one person, and what works for them. */
interface ReadPerson {
  readonly elicitations: Listed<AdminElicitation>;
  readonly approvals: Listed<AdminApproval>;
  readonly turns: Listed<AdminTurn>;
}

export class PersonPage extends ConsolePage<ReadPerson> {
  protected async load(signal: AbortSignal): Promise<ReadPerson> {
    const { api } = this.at;
    const parts = { query: { userId: this.place.id, order: 'oldest' }, signal };
    const [elicitations, approvals, turns] = await Promise.all([
      api.call('GET /v1/admin/elicitations', parts),
      api.call('GET /v1/admin/approvals', parts),
      api.call('GET /v1/admin/turns', parts),
    ]);
    return {
      elicitations: { rows: elicitations.elicitations, hasMore: elicitations.nextCursor !== undefined },
      approvals: { rows: approvals.approvals, hasMore: approvals.nextCursor !== undefined },
      turns: { rows: turns.turns, hasMore: turns.nextCursor !== undefined },
    };
  }

  protected isAbout({ userId }: LiveChange): boolean {
    return userId === undefined || userId === this.place.id;
  }

  protected heading(): TemplateResult {
    const { words } = this.at;
    return html`<h1 tabindex="-1">${words.pages.person} <span class="id">${idText(this.place.id)}</span></h1>`;
  }

  protected view({ elicitations, approvals, turns }: ReadPerson): TemplateResult {
    const { at } = this;
    return html`
      ${this.#section('elicitations', elicitations, elicitationColumns(at, false), ({ elicitationId }) => elicitationId)}
      ${this.#section('approvals', approvals, approvalColumns(at, false), ({ approvalId }) => approvalId)}
      ${this.#section('turns', turns, turnColumns(at, false), keyOfTurn)}
    `;
  }

  #section<Row>(
    kind: PageName & ('elicitations' | 'approvals' | 'turns'),
    { rows, hasMore }: Listed<Row>,
    columns: readonly TableColumn<Row>[],
    keyOf: (row: Row) => string,
  ): TemplateResult {
    const { words } = this.at;
    const of = { userId: this.place.id };
    const caption = words.openOf[kind];
    const shown = columns.filter(({ title }) => title !== words.person);
    return html`<section class="panel" aria-labelledby=${kind}>
      <h2 id=${kind}>${caption}</h2>
      ${rows.length === 0 ? emptyNote(hasMore ? words.nothingOnThisPage : words.nothingIsOpen) : tableView({ caption, columns: shown, rows, keyOf })}
      <p class="more">
        ${hasMore ? html`<a href=${hrefOf(kind, { query: { ...of, order: 'oldest' } })}>${words.showAll}</a>` : nothing}
        <a href=${hrefOf(kind, { query: { ...of, state: 'ended' } })}>${words.showEnded}</a>
      </p>
    </section>`;
  }
}
