/** The page of one question or approval. Its actions are in `record-acts.ts`, its card in `record-card.ts`. */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminReplies } from '../api/replies.ts';
import { mayAct } from '../kit/at.ts';
import { ConsolePage } from '../kit/page.ts';
import { reasonsView } from '../parts/reasons.ts';
import { tableView } from '../parts/table.ts';
import { badge, factList, idText, outside, outsideOr, wordOf } from '../parts/texts.ts';
import { ago, moment, until } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import { recordActions } from './record-acts.ts';
import { cardPanel } from './record-card.ts';
import type { ShownRecord } from './shown-record.ts';

type History = AdminReplies['GET /v1/admin/elicitations/:id']['history'];

/** A question or an approval with its reasons, its card, its facts and its history. */
interface ReadRecord {
  readonly record: ShownRecord;
  readonly history: History;
  readonly isHistoryWhole: boolean;
  readonly reasons: readonly string[];
}

abstract class RecordPage extends ConsolePage<ReadRecord> {
  protected override isAbout({ id }: LiveChange): boolean {
    return id === this.place.id;
  }

  protected override heading(): TemplateResult {
    const { words } = this.at;
    return html`<h1 tabindex="-1">${words.pages[this.place.page]} <span class="id">${idText(this.place.id)}</span></h1>`;
  }

  protected override view({ record, history, isHistoryWhole, reasons }: ReadRecord): TemplateResult {
    const { at } = this;
    const { words } = at;
    return html`
      ${mayAct(at) ? html`<div class="actions">${recordActions(at, record, () => void this.reload())}</div>` : nothing}
      <div class="columns">
        <div>
          ${reasonsView(reasons, { words, userId: record.view.userId })}
          ${cardPanel(at, record)}
          ${this.#historyView(history, isHistoryWhole)}
        </div>
        <section class="panel" aria-labelledby="facts">
          <h2 id="facts">${words.facts}</h2>
          ${this.#facts(record)}
        </section>
      </div>
    `;
  }

  #facts({ family, view, hasEnded }: ShownRecord): TemplateResult {
    const { api, words } = this.at;
    const clock = { now: api.now(), lang: words.lang };
    const { userId, streamRequestId, conversationId, agent } = view;
    const isQuestion = family === 'elicitation';
    return factList([
      [words.state, badge(view.status, isQuestion ? words.questionStates : words.approvalStates)],
      [words.reason, view.reason === undefined ? undefined : outside(view.reason)],
      [words.surface, view.surface === undefined ? undefined : outside(view.surface)],
      [words.person, html`<a href=${hrefOf('person', { id: userId })}>${outside(userId)}</a>`],
      [words.agent, agent === undefined ? undefined : outside(agent)],
      [words.trigger, isQuestion ? wordOf(words.triggers, view.trigger) : undefined],
      [
        words.tool,
        view.toolName === undefined && view.toolId === undefined
          ? undefined
          : html`${outsideOr(view.toolName)} ${view.toolId === undefined ? nothing : html`<span class="quiet">${outside(view.toolId)}</span>`}`,
      ],
      [
        words.tags,
        view.tags === undefined
          ? undefined
          : view.tags.map(
              (tag) =>
                html`<a class="tag" href=${hrefOf(`${family}s`, { query: { tag } })}>${outside(tag)}</a> `,
            ),
      ],
      [words.askedBy, isQuestion && view.askedBy !== undefined ? outside(view.askedBy) : undefined],
      [
        words.asked,
        html`${moment(view.createdAt, clock)} <span class="quiet">${ago(view.createdAt, clock)}</span>`,
      ],
      [
        hasEnded ? words.deadline : words.expires,
        html`${moment(view.expiresAt, clock)} ${hasEnded ? nothing : html`<span class="quiet">${until(view.expiresAt, clock)}</span>`}`,
      ],
      [words.endedAt, view.settledAt === undefined ? undefined : moment(view.settledAt, clock)],
      [
        words.turn,
        agent === undefined
          ? undefined
          : html`<a href=${hrefOf('turn', { id: streamRequestId, query: { userId } })}>${idText(streamRequestId)}</a>`,
      ],
      [
        words.conversation,
        html`<a href=${hrefOf('conversation', { id: conversationId, query: { userId } })}>${idText(conversationId)}</a>`,
      ],
    ]);
  }

  #historyView(history: History, isWhole: boolean): TemplateResult {
    const { words } = this.at;
    const isQuestion = this.place.page === 'elicitation';
    return html`<section class="panel" aria-labelledby="history">
      <h2 id="history">${words.history}</h2>
      ${isWhole ? nothing : html`<p class="quiet">${words.historyIsLong}</p>`}
      ${tableView({
        caption: words.history,
        rows: history,
        keyOf: ({ revision, event }) => `${revision} ${event}`,
        columns: [
          { title: words.when, cell: ({ at }) => moment(at, words) },
          {
            title: words.state,
            cell: ({ status }) => badge(status, isQuestion ? words.questionStates : words.approvalStates),
          },
          {
            title: words.deadline,
            cell: ({ expiresAt }) => (expiresAt === undefined ? '–' : moment(expiresAt, words)),
          },
          { title: words.surface, cell: ({ surface }) => outsideOr(surface) },
          { title: words.reason, cell: ({ reason }) => outsideOr(reason) },
        ],
      })}
    </section>`;
  }
}

export class OneElicitation extends RecordPage {
  protected async load(signal: AbortSignal): Promise<ReadRecord> {
    const { api } = this.at;
    const parts = { params: { id: this.place.id }, signal };
    const [{ elicitation: view, ...rest }, { reasons }] = await Promise.all([
      api.call('GET /v1/admin/elicitations/:id', parts),
      api.call('GET /v1/admin/elicitations/:id/why', parts),
    ]);
    const record = {
      family: 'elicitation',
      id: view.elicitationId,
      view,
      hasEnded: isTerminal(view.status),
    } as const;
    return { record, reasons, ...rest };
  }
}

export class OneApproval extends RecordPage {
  protected async load(signal: AbortSignal): Promise<ReadRecord> {
    const { api } = this.at;
    const parts = { params: { id: this.place.id }, signal };
    const [{ approval: view, ...rest }, { reasons }] = await Promise.all([
      api.call('GET /v1/admin/approvals/:id', parts),
      api.call('GET /v1/admin/approvals/:id/why', parts),
    ]);
    const record = {
      family: 'approval',
      id: view.approvalId,
      view,
      hasEnded: isApprovalEnded(view.status),
    } as const;
    return { record, reasons, ...rest };
  }
}
