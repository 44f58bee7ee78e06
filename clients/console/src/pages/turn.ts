/** The page of one turn: its reasons, its timeline and its facts. Drawing the timeline is in `timeline/`. */

import { html, nothing, type TemplateResult } from 'lit';
import type { LiveChange } from '../api/live.ts';
import type { AdminTurn } from '../api/replies.ts';
import { mayAct } from '../kit/at.ts';
import { ConsolePage } from '../kit/page.ts';
import { openDialog } from '../parts/dialogs.ts';
import { reasonsView } from '../parts/reasons.ts';
import { badge, factList, idText, outside } from '../parts/texts.ts';
import { ago, moment } from '../parts/times.ts';
import { hrefOf } from '../place.ts';
import type { TurnTimeline } from '../timeline/rows.ts';
import { hrefOfTurn } from './turns.ts';

/** The content of the page: a turn with its reasons and its timeline. */
interface ReadTurn {
  readonly turn: AdminTurn;
  readonly timeline: TurnTimeline;
  readonly reasons: readonly string[];
}

const OPEN_STATES: readonly AdminTurn['state'][] = ['running', 'queued', 'detached', 'orphaned'];

export class TurnPage extends ConsolePage<ReadTurn> {
  /** The ids in the timeline. A change of any of them makes the page read again. */
  #ids: ReadonlySet<string> = new Set();

  protected async load(signal: AbortSignal): Promise<ReadTurn> {
    const { api } = this.at;
    const parts = { ...this.#parts(), signal };
    const [turn, timeline, { reasons }] = await Promise.all([
      api.call('GET /v1/admin/turns/:streamRequestId', parts),
      api.call('GET /v1/admin/turns/:streamRequestId/timeline', parts),
      api.call('GET /v1/admin/turns/:streamRequestId/why', parts),
      import('../timeline/define.ts'),
    ]);
    this.#ids = new Set(
      timeline.runs.flatMap(({ streamRequestId, waits }) => [
        streamRequestId,
        ...waits.map(({ elicitationId }) => elicitationId),
      ]),
    );
    return { turn, timeline, reasons };
  }

  #parts() {
    const { id, query } = this.place;
    const [userId, key] = [query.get('userId') ?? undefined, query.get('key') ?? undefined];
    return { params: { streamRequestId: id }, query: { userId, key } };
  }

  protected isAbout({ id }: LiveChange): boolean {
    return id === this.place.id || this.#ids.has(id);
  }

  protected heading(): TemplateResult {
    const { words } = this.at;
    return html`<h1 tabindex="-1">${words.pages.turn} <span class="id">${idText(this.place.id)}</span></h1>`;
  }

  protected view({ turn, timeline, reasons }: ReadTurn): TemplateResult {
    const { at } = this;
    const { words, api } = at;
    return html`
      ${mayAct(at) ? html`<div class="actions">${this.#actions(turn)}</div>` : nothing}
      ${reasonsView(reasons, { words, userId: turn.userId })}
      <section class="panel across" aria-labelledby="facts">
          <h2 id="facts">${words.facts}</h2>
          ${this.#facts(turn)}
        </section>
      <section class="panel" aria-labelledby="timeline">
        <h2 id="timeline">${words.timeline}</h2>
        <console-timeline .timeline=${timeline} .now=${api.now()} .words=${words} .userId=${turn.userId}></console-timeline>
      </section>
    `;
  }

  #facts(turn: AdminTurn): TemplateResult {
    const { api, words } = this.at;
    const clock = { now: api.now(), lang: words.lang };
    const { userId, key, conversationId } = turn;
    return factList([
      [words.state, html`${badge(turn.state, words.turnStates)} ${turn.stopping ? words.stopping : nothing}`],
      [
        words.person,
        userId === undefined
          ? undefined
          : html`<a href=${hrefOf('person', { id: userId })}>${outside(userId)}</a>`,
      ],
      [words.serviceKey, key === undefined ? undefined : outside(key)],
      [words.agent, outside(turn.agent)],
      [words.pod, turn.pod === undefined ? undefined : outside(turn.pod)],
      [words.takeOvers, turn.takeOvers],
      [
        words.began,
        html`${moment(turn.startedAt, clock)} <span class="quiet">${ago(turn.startedAt, clock)}</span>`,
      ],
      [words.endedAt, turn.endedAt === undefined ? undefined : moment(turn.endedAt, clock)],
      [words.restsUntil, turn.restsUntil === undefined ? undefined : moment(turn.restsUntil, clock)],
      [
        words.worksFor,
        turn.parent === undefined
          ? undefined
          : html`<a href=${hrefOfTurn({ ...turn, streamRequestId: turn.parent })}>${idText(turn.parent)}</a>`,
      ],
      [
        words.conversation,
        userId === undefined
          ? idText(conversationId)
          : html`<a href=${hrefOf('conversation', { id: conversationId, query: { userId } })}>${idText(conversationId)}</a>`,
      ],
    ]);
  }

  #actions({ state, parent, stopping }: AdminTurn): TemplateResult {
    const { words } = this.at;
    const isOpen = OPEN_STATES.includes(state);
    return html`
      ${isOpen && parent === undefined && !stopping ? html`<button type="button" class="button" @click=${this.#stop}>${words.stop}</button>` : nothing}
      ${isOpen && state !== 'running' ? html`<button type="button" class="button" @click=${this.#resume}>${words.resume}</button>` : nothing}
      <button type="button" class="button" @click=${this.#deliverAgain}>${words.deliverAgain}</button>
    `;
  }

  readonly #stop = () => {
    const { words, api, say } = this.at;
    openDialog({
      words,
      title: words.stopTitle,
      body: html`<p>${words.stopWhat}</p>`,
      act: words.stop,
      isDangerous: true,
      onAct: async () => {
        const { changed } = await api.call('POST /v1/admin/turns/:streamRequestId/stop', this.#parts());
        say(changed ? words.isStopping : words.nothingToDo);
        void this.reload();
        return undefined;
      },
    });
  };

  readonly #resume = () => {
    const { words, api, say } = this.at;
    openDialog({
      words,
      title: words.resumeTitle,
      body: html`<p>${words.resumeWhat}</p>`,
      act: words.resume,
      onAct: async () => {
        const { changed } = await api.call('POST /v1/admin/turns/:streamRequestId/resume', this.#parts());
        say(changed ? words.isOffered : words.nothingToDo);
        void this.reload();
        return undefined;
      },
    });
  };

  readonly #deliverAgain = () => {
    const { words, api, say } = this.at;
    openDialog({
      words,
      title: words.deliverAgain,
      body: html`<p>${words.deliverTurnWhat}</p>
        <label class="field">${words.deliverBy}<input name="by" maxlength="64" value="slack" required autocomplete="off" spellcheck="false" /></label>`,
      act: words.deliverAgain,
      onAct: async (body) => {
        await api.call('POST /v1/admin/turns/:streamRequestId/redeliver', { ...this.#parts(), body });
        say(words.onItsWay);
        return undefined;
      },
    });
  };
}
