/**
 * The list of outstanding and failed deliveries of a tenant, and the action to deliver again. Webhooks and channels themselves
 * are the server's business.
 */

import { html, type TemplateResult } from 'lit';
import type { AdminDelivery } from '../api/replies.ts';
import { mayAct, type PageContext } from '../kit/at.ts';
import { ConsoleList } from '../kit/list.ts';
import { openDialog } from '../parts/dialogs.ts';
import type { TableColumn } from '../parts/table.ts';
import { badge, idText, outside, wordOf } from '../parts/texts.ts';
import { ago, until } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import { ageFilter, stateFilters } from './records.ts';
import { hrefOfTurn, personOfTurn } from './turns.ts';

/** The outstanding deliveries of a tenant, and those that were given up. */
export class DeliveryList extends ConsoleList<AdminDelivery> {
  protected readonly path = '/v1/admin/deliveries';
  protected readonly kind = 'delivery';

  protected async load(signal: AbortSignal) {
    const reply = await this.at.api.call('GET /v1/admin/deliveries', { query: this.asked(), signal });
    return { rows: reply.deliveries, nextCursor: reply.nextCursor };
  }

  /** Every change may concern this list, because a commit announces only its record, not the deliveries that it notes. */
  protected override isAbout(): boolean {
    return true;
  }

  protected filters() {
    const { words } = this.at;
    const choicesOf = (all: Readonly<Record<string, string>>) =>
      [['', words.any], ...Object.entries(all)] as const;
    const [state, order] = stateFilters(this.at).map((filter) =>
      filter.name === 'state'
        ? { ...filter, choices: [['', words.outstanding] as const, ['ended', words.givenUp] as const] }
        : filter,
    );
    return {
      shown: [
        ...(state && order ? [state, order] : []),
        { name: 'kind', label: words.deliveryKind, choices: choicesOf(words.deliveryKinds) },
        { name: 'status', label: words.standing, choices: choicesOf(words.deliveryStates) },
        { name: 'userId', label: words.person },
      ],
      more: [{ name: 'record', label: words.record }, ageFilter(this.at)],
    };
  }

  protected columns(): TableColumn<AdminDelivery>[] {
    return deliveryColumns(this.at, this.place.query.get('state') === 'ended', () => void this.reload());
  }

  protected keyOf({ kind, deliveryId }: AdminDelivery): string {
    return `${kind} ${deliveryId}`;
  }
}

function deliveryColumns(
  at: PageContext,
  isEnded: boolean,
  onDone: () => void,
): TableColumn<AdminDelivery>[] {
  const { api, words } = at;
  const clock = { now: api.now(), lang: words.lang };
  const time = (iso: string | undefined, show: typeof ago) => (iso === undefined ? '–' : show(iso, clock));
  return [
    { title: words.state, cell: ({ state }) => badge(state, words.deliveryStates) },
    {
      title: words.delivery,
      cell: ({ kind, target, ...delivery }) =>
        html`${wordOf(words.deliveryKinds, kind)}
          ${target === undefined ? '' : html`<span class="quiet">${outside(target)}</span>`}
          ${subjectLink(delivery)}`,
    },
    { title: words.person, cell: personOfTurn },
    {
      title: words.attempts,
      cell: ({ attempts, lastError, lastStatus }) =>
        html`${attempts} ${lastError === undefined ? '' : html`<span class="quiet">${outside(lastError)} ${lastStatus ?? ''}</span>`}`,
    },
    ...(isEnded
      ? [{ title: words.givenUp, cell: ({ diedAt }: AdminDelivery) => time(diedAt, ago) }]
      : [
          { title: words.outstandingSince, cell: ({ notedAt }: AdminDelivery) => time(notedAt, ago) },
          {
            title: words.nextAttempt,
            cell: ({ nextAttemptAt }: AdminDelivery) => time(nextAttemptAt, until),
          },
        ]),
    ...(mayAct(at)
      ? [{ title: words.action, cell: (delivery: AdminDelivery) => againButton(at, delivery, onDone) }]
      : []),
  ];
}

/** A link to the record that a delivery concerns, or else to its turn. */
function subjectLink(delivery: Omit<AdminDelivery, 'kind' | 'target'>): TemplateResult {
  const { elicitationId, approvalId, streamRequestId } = delivery;
  const id = elicitationId ?? approvalId;
  if (id !== undefined) {
    const page = elicitationId === undefined ? 'approval' : 'elicitation';
    return html`<a class="id" href=${hrefOf(page, { id })}>${idText(id)}</a>`;
  }
  if (streamRequestId === undefined) return html`<span class="id">${idText(delivery.deliveryId)}</span>`;
  return html`<a class="id" href=${hrefOfTurn({ ...delivery, streamRequestId })}>${idText(streamRequestId)}</a>`;
}

function againButton(at: PageContext, delivery: AdminDelivery, onDone: () => void): TemplateResult {
  const { words } = at;
  const name = words.deliverOne(`${wordOf(words.deliveryKinds, delivery.kind)} ${delivery.deliveryId}`);
  return html`<button type="button" class="button small" aria-label=${name} @click=${() => deliverAgain(at, delivery, onDone)}>${words.deliverAgain}</button>`;
}

function deliverAgain({ api, words, say }: PageContext, delivery: AdminDelivery, onDone: () => void): void {
  openDialog({
    words,
    title: words.deliverAgain,
    body: html`<p>${words.deliverNowWhat}</p>`,
    act: words.deliverAgain,
    async onAct() {
      await redeliver(api, delivery);
      say(words.onItsWay);
      onDone();
      return undefined;
    },
  });
}

function redeliver(api: PageContext['api'], delivery: AdminDelivery): Promise<unknown> {
  const { kind, deliveryId, elicitationId, approvalId, streamRequestId = '', userId, key } = delivery;
  const body = { by: kind };
  if (elicitationId !== undefined)
    return api.call('POST /v1/admin/elicitations/:id/redeliver', { params: { id: elicitationId }, body });
  if (approvalId !== undefined)
    return api.call('POST /v1/admin/approvals/:id/redeliver', { params: { id: approvalId }, body });
  const query = userId === undefined ? { key } : { userId };
  return api.call('POST /v1/admin/turns/:streamRequestId/redeliver', {
    params: { streamRequestId },
    query,
    body: { ...body, deliveryId },
  });
}
