/**
 * The lists of questions and approvals, with the filters and columns that both share. A single record has its page in
 * `record.ts`.
 */

import { html } from 'lit';
import type { AdminApproval, AdminElicitation } from '../api/replies.ts';
import type { PageContext } from '../kit/at.ts';
import { ConsoleList } from '../kit/list.ts';
import type { ConsoleFilter } from '../parts/filters.ts';
import type { TableColumn } from '../parts/table.ts';
import { badge, idText, outside, outsideOr, wordOf } from '../parts/texts.ts';
import { ago, until } from '../parts/times.ts';
import { hrefOf } from '../place.ts';

/** The fields that the lists of both families use. */
interface ListedRecord {
  readonly id: string;
  readonly userId: string;
  readonly agent?: string;
  readonly status: string;
  readonly surface?: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly settledAt?: string;
}

/** The filters of every list: open or ended, and the order. */
export function stateFilters({ words }: PageContext): ConsoleFilter[] {
  return [
    {
      name: 'state',
      label: words.state,
      choices: [
        ['', words.open],
        ['ended', words.ended],
      ],
    },
    {
      name: 'order',
      label: words.order,
      choices: [
        ['', words.newestFirst],
        ['oldest', words.oldestFirst],
      ],
    },
  ];
}

/** The filter by minimum age. */
export function ageFilter({ words }: PageContext): ConsoleFilter {
  return {
    name: 'olderThanSeconds',
    label: words.olderThan,
    choices: [['', words.anyAge], ...Object.entries(words.ages)],
  };
}

/** The columns of both families: people and times. They follow the family's own columns. */
function commonColumns({ api, words }: PageContext, isEnded: boolean): TableColumn<ListedRecord>[] {
  const clock = { now: api.now(), lang: words.lang };
  return [
    {
      title: words.person,
      cell: ({ userId }) => html`<a href=${hrefOf('person', { id: userId })}>${outside(userId)}</a>`,
    },
    { title: words.agent, cell: ({ agent }) => outsideOr(agent) },
    { title: words.asked, cell: ({ createdAt }) => ago(createdAt, clock) },
    isEnded
      ? {
          title: words.endedAt,
          cell: ({ settledAt, surface }) =>
            html`${settledAt === undefined ? '–' : ago(settledAt, clock)}${surface === undefined ? '' : html` <span class="quiet">${outside(surface)}</span>`}`,
        }
      : { title: words.expires, cell: ({ expiresAt }) => until(expiresAt, clock) },
  ];
}

/** The filters of both families. The family's `own` filters follow the filter by status, whose words are the family's. */
function recordFilters(
  at: PageContext,
  states: Readonly<Record<string, string>>,
  own: readonly ConsoleFilter[] = [],
): { readonly shown: ConsoleFilter[]; readonly more: ConsoleFilter[] } {
  const { words } = at;
  return {
    shown: [
      ...stateFilters(at),
      { name: 'userId', label: words.person },
      { name: 'agent', label: words.agent },
    ],
    more: [
      { name: 'status', label: words.outcome, choices: [['', words.any], ...Object.entries(states)] },
      ...own,
      { name: 'tool', label: words.tool },
      { name: 'tag', label: words.tag },
      { name: 'surface', label: words.surface },
      { name: 'conversationId', label: words.conversation },
      ageFilter(at),
    ],
  };
}

export class ListedElicitations extends ConsoleList<AdminElicitation> {
  protected readonly path = '/v1/admin/elicitations';
  protected readonly kind = 'elicitation';

  protected async load(signal: AbortSignal) {
    const reply = await this.at.api.call('GET /v1/admin/elicitations', { query: this.asked(), signal });
    return { rows: reply.elicitations, nextCursor: reply.nextCursor };
  }

  protected filters() {
    const { words } = this.at;
    const choices = [['', words.any], ...Object.entries(words.triggers)] as [string, string][];
    return recordFilters(this.at, words.questionStates, [{ name: 'trigger', label: words.trigger, choices }]);
  }

  protected columns(): TableColumn<AdminElicitation>[] {
    return elicitationColumns(this.at, this.place.query.get('state') === 'ended');
  }

  protected keyOf({ elicitationId }: AdminElicitation): string {
    return elicitationId;
  }
}

export class ListedApprovals extends ConsoleList<AdminApproval> {
  protected readonly path = '/v1/admin/approvals';
  protected readonly kind = 'approval';

  protected async load(signal: AbortSignal) {
    const reply = await this.at.api.call('GET /v1/admin/approvals', { query: this.asked(), signal });
    return { rows: reply.approvals, nextCursor: reply.nextCursor };
  }

  protected filters() {
    return recordFilters(this.at, this.at.words.approvalStates);
  }

  protected columns(): TableColumn<AdminApproval>[] {
    return approvalColumns(this.at, this.place.query.get('state') === 'ended');
  }

  protected keyOf({ approvalId }: AdminApproval): string {
    return approvalId;
  }
}

/** The columns of questions, in the list and on the page of a person. */
export function elicitationColumns(at: PageContext, isEnded: boolean): TableColumn<AdminElicitation>[] {
  const { words } = at;
  return [
    { title: words.state, cell: ({ status }) => badge(status, words.questionStates) },
    {
      title: words.question,
      cell: ({ elicitationId, trigger, toolName, toolId }) =>
        html`<a href=${hrefOf('elicitation', { id: elicitationId })}>${wordOf(words.triggers, trigger)}</a>
          ${toolName === undefined && toolId === undefined ? '' : html`<span class="quiet">${outside(toolName ?? toolId ?? '')}</span>`}
          <span class="id">${idText(elicitationId)}</span>`,
    },
    ...commonColumns(at, isEnded).map(({ title, cell }) => ({
      title,
      cell: (row: AdminElicitation) => cell({ ...row, id: row.elicitationId }),
    })),
  ];
}

/** The columns of approvals, in the list and on the page of a person. */
export function approvalColumns(at: PageContext, isEnded: boolean): TableColumn<AdminApproval>[] {
  const { words } = at;
  return [
    { title: words.state, cell: ({ status }) => badge(status, words.approvalStates) },
    {
      title: words.tool,
      cell: ({ approvalId, toolName, toolId }) =>
        html`<a href=${hrefOf('approval', { id: approvalId })}>${outside(toolName)}</a>
          <span class="quiet">${outside(toolId)}</span>
          <span class="id">${idText(approvalId)}</span>`,
    },
    ...commonColumns(at, isEnded).map(({ title, cell }) => ({
      title,
      cell: (row: AdminApproval) => cell({ ...row, id: row.approvalId }),
    })),
  ];
}
