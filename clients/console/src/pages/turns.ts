import { html, type TemplateResult } from 'lit';
import type { AdminTurn } from '../api/replies.ts';
import type { PageContext } from '../kit/at.ts';
import { ConsoleList } from '../kit/list.ts';
import type { TableColumn } from '../parts/table.ts';
import { badge, idText, outside, outsideOr } from '../parts/texts.ts';
import { ago } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import { ageFilter, stateFilters } from './records.ts';

export class TurnList extends ConsoleList<AdminTurn> {
  protected readonly path = '/v1/admin/turns';
  protected readonly kind = 'turn';

  protected async load(signal: AbortSignal) {
    const reply = await this.at.api.call('GET /v1/admin/turns', { query: this.asked(), signal });
    return { rows: reply.turns, nextCursor: reply.nextCursor };
  }

  protected filters() {
    const { words } = this.at;
    return {
      shown: [
        ...stateFilters(this.at),
        {
          name: 'status',
          label: words.standing,
          choices: [['', words.any], ...Object.entries(words.turnStates)] as const,
        },
        { name: 'userId', label: words.person },
        { name: 'agent', label: words.agent },
      ],
      more: [{ name: 'conversationId', label: words.conversation }, ageFilter(this.at)],
    };
  }

  protected columns(): TableColumn<AdminTurn>[] {
    return turnColumns(this.at, this.place.query.get('state') === 'ended');
  }

  protected keyOf(turn: AdminTurn): string {
    return keyOfTurn(turn);
  }
}

/** The columns of turns, in the list and in a conversation. */
export function turnColumns({ api, words }: PageContext, isEnded: boolean): TableColumn<AdminTurn>[] {
  const clock = { now: api.now(), lang: words.lang };
  return [
    {
      title: words.state,
      cell: ({ state, stopping }) =>
        html`${badge(state, words.turnStates)} ${stopping ? html`<span class="quiet">${words.stopping}</span>` : ''}`,
    },
    {
      title: words.turn,
      cell: (turn) =>
        html`<a href=${hrefOfTurn(turn)}>${outside(turn.agent)}</a>
          ${turn.parent === undefined ? '' : html`<span class="quiet">${words.delegate}</span>`}
          <span class="id">${idText(turn.streamRequestId)}</span>`,
    },
    { title: words.person, cell: personOfTurn },
    { title: words.pod, cell: ({ pod }) => outsideOr(pod) },
    { title: words.takeOvers, cell: ({ takeOvers }) => takeOvers, isNumber: true },
    { title: words.began, cell: ({ startedAt }) => ago(startedAt, clock) },
    ...(isEnded
      ? [
          {
            title: words.endedAt,
            cell: ({ endedAt }: AdminTurn) => (endedAt === undefined ? '–' : ago(endedAt, clock)),
          },
        ]
      : []),
  ];
}

/** The person or the service key of a turn; a dash if neither is known. */
export function personOfTurn({ userId, key }: Pick<AdminTurn, 'userId' | 'key'>): TemplateResult {
  return userId === undefined
    ? outsideOr(key)
    : html`<a href=${hrefOf('person', { id: userId })}>${outside(userId)}</a>`;
}

/** The address of a turn's page. A turn is identified by its stream request and its person or service key. */
export function hrefOfTurn({
  streamRequestId,
  userId,
  key,
}: Pick<AdminTurn, 'streamRequestId' | 'userId' | 'key'>): string {
  return hrefOf('turn', { id: streamRequestId, query: userId === undefined ? { key } : { userId } });
}

/** Distinguishes turns, because two people may choose the same stream request id. */
export function keyOfTurn({ streamRequestId, userId, key }: AdminTurn): string {
  return `${streamRequestId} ${userId ?? key ?? ''}`;
}
