/** The element of one question: properties, focus and keys. Its state is in `model.ts`, its look in `body.ts`. */

import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { type Elicitation, isOpen } from '../elicitation.ts';
import { formStyles } from '../form/styles.ts';
import { FormView } from '../form/view.ts';
import type { Refusal } from '../server/refusal.ts';
import type { CardServer } from '../server/type.ts';
import { ENGLISH } from '../strings/en.ts';
import { LocalizedStrings } from '../strings/localized.ts';
import type { Strings } from '../strings/strings.ts';
import { cardView, endOf } from './body.ts';
import { markPassed, nextChange, remainingMs } from './countdown.ts';
import { dispatch } from './events.ts';
import { agentOf } from './head.ts';
import { InViewTimer } from './in-view.ts';
import { CardModel } from './model.ts';
import type { CardActions } from './props.ts';
import { type CardState, isOver } from './state.ts';
import { cardStyles } from './styles.ts';

/** Delay between clearing the live region and filling it, in ms: screen readers announce only changes. */
const ANNOUNCE_DELAY_MS = 250;

/**
 * `<elicitation-card>`: one question of an agent, until it is settled. It needs `server` and a question: either
 * `elicitation-id`, or `elicitation` as it came with the chat. See docs/widget.md.
 */
export class ElicitationCard extends LitElement {
  static override styles = [cardStyles, formStyles];
  static override properties = {
    elicitation: { attribute: false },
    elicitationId: { attribute: 'elicitation-id' },
    server: { attribute: false },
    strings: { attribute: false },
    agent: {},
    lang: { reflect: true },
    theme: { reflect: true },
    fed: { type: Boolean, reflect: true },
    headingLevel: { attribute: 'heading-level', type: Number },
  };

  /** The question. Set a new object on each change; a view older than the card's own is ignored. */
  declare elicitation: Elicitation | undefined;
  declare elicitationId: string | undefined;
  /** The connection to Parley. Without it, the card only displays the question. */
  declare server: CardServer | undefined;
  /** Replaces some of the widget's texts. */
  declare strings: Partial<Strings> | undefined;
  /** Who asks; without it, the name in the question's context. */
  declare agent: string | undefined;
  /** @default the page's `color-scheme` */
  declare theme: 'light' | 'dark' | undefined;
  /** True if the page sets `elicitation` on every change, from its chat stream. */
  declare fed: boolean;
  /** Level of the card's heading in the page. @default 3 */
  declare headingLevel: number;

  readonly #language = new LocalizedStrings<Strings>(this, ENGLISH);
  readonly #render = () => this.requestUpdate();
  #id: string | undefined;
  #model = this.#createModel();
  readonly #form = new FormView(this, {
    onSubmit: () => this.#submit(),
    onChange: () => this.#model.dropUnsent(),
  });
  readonly #inView = new InViewTimer(this.#render);
  #listening: AbortController | undefined;
  #state: CardState | undefined;
  #lastView: Elicitation | undefined;
  #refusal: Refusal | undefined;
  #strayErrors: readonly string[] = [];
  #isChecking = false;
  #hadFocus = false;
  #leftMs: number | undefined;
  #countdownTimer: ReturnType<typeof setTimeout> | undefined;
  /** Text of the live region. */
  #announced = '';
  #announceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.addEventListener('keydown', (event) => this.#onKey(event));
    this.fed = false;
    this.headingLevel = 3;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    const refresh = () => {
      this.#inView.update();
      this.#model.refresh();
    };
    document.addEventListener('visibilitychange', refresh, { signal });
    // A page that the back/forward cache restores has lost its connections.
    for (const name of ['focus', 'pageshow', 'online']) window.addEventListener(name, refresh, { signal });
    window.addEventListener('message', (event) => this.#onMessage(event), { signal });
    this.#model.start();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#listening?.abort();
    this.#model.stop();
    this.#inView.watch(undefined);
    clearTimeout(this.#countdownTimer);
    clearTimeout(this.#announceTimer);
  }

  /** Focuses the first field, or the main button, or the heading, whichever exists. */
  override focus(options?: FocusOptions): void {
    const find = (selector: string) => this.renderRoot.querySelector<HTMLElement>(selector);
    (find('.form :is(.entry, input)') ?? find('.primary') ?? find('.title'))?.focus(options);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.#hadFocus = this.shadowRoot?.activeElement != null;
    const next = changed.has('elicitation') ? this.elicitation : undefined;
    const id =
      next?.elicitationId ?? (changed.has('elicitationId') ? this.elicitationId : undefined) ?? this.#id;
    const isOther = id !== this.#id || changed.has('server') || changed.has('fed');
    if (isOther) this.#switchTo(id);
    if (next?.serverTime !== undefined) this.server?.noteTime(next.serverTime);
    if (next !== undefined) this.#model.update(next);
    if (isOther && this.isConnected) this.#model.start();
    this.#prepareForm();
  }

  protected override render(): TemplateResult {
    const strings = this.#words();
    const { view, state, refusal, isUnsent } = this.#model;
    return html`${cardView({
      view,
      state,
      agent: agentOf(view, this.agent, strings),
      strings,
      headingLevel: this.headingLevel,
      leftMs: remainingMs(state === 'gone' ? undefined : view, this.server),
      refusal,
      strayErrors: this.#strayErrors,
      fields: this.#form.render(state === 'sending', strings),
      isYesNo: this.#form.isYesNo,
      actions: this.#actions,
      isChecking: this.#isChecking,
      isUnsent,
      isReady: this.#inView.isReady,
    })}<div class="said" role="status">${this.#announced}</div>`;
  }

  protected override updated(): void {
    const { view, state } = this.#model;
    const [before, lastView] = [this.#state, this.#lastView];
    this.#state = state;
    this.#lastView = view;
    this.dataset.state = state;
    this.toggleAttribute('data-over', isOver(state));
    if (view === undefined) delete this.dataset.status;
    else this.dataset.status = view.status;
    this.#inView.watch(this.renderRoot.querySelector('a') ?? undefined);
    const isSame = lastView?.elicitationId === view?.elicitationId;
    if (view && isSame && lastView?.status !== view.status) dispatch(this, 'change', view);
    if (state !== before) this.#onState(state, before);
    this.#updateCountdown();
    // If the focused element is gone, the focus stays in the card, but it never enters it by itself.
    if (this.#hadFocus && this.shadowRoot?.activeElement == null) {
      this.renderRoot.querySelector<HTMLElement>('.title')?.focus({ preventScroll: true });
    }
  }

  #createModel(elicitationId = ''): CardModel {
    return new CardModel(elicitationId, this.server, this.fed, this.#render);
  }

  #switchTo(id: string | undefined): void {
    const { view } = this.#model;
    this.#model.stop();
    this.#model = this.#createModel(id);
    if (id === this.#id && view !== undefined) this.#model.update(view);
    if (id !== this.#id) {
      this.#state = undefined;
      this.#leftMs = undefined;
      this.#inView.watch(undefined);
    }
    this.#id = id;
  }

  #prepareForm(): void {
    const { view, refusal } = this.#model;
    if (view !== undefined && !isOpen(view)) this.#form.clear();
    else if (view?.mode === 'form') {
      this.#form.setSchema(view.requestedSchema, { elicitationId: this.#id, isSensitive: view.sensitive });
    }
    if (refusal === this.#refusal) return;
    this.#refusal = refusal;
    this.#strayErrors = this.#form.showErrors(refusal?.errors ?? []);
  }

  readonly #actions: CardActions = {
    open: (event) => this.#open(event),
    submit: () => this.#submit(),
    choose: (isYes) => this.#submit(isYes),
    decline: () => this.#model.send({ action: 'decline' }),
    cancel: () => this.#model.send({ action: 'cancel' }),
    check: () => void this.#check(),
    copy: (href) => void this.#copy(href),
  };

  #submit(isYes?: boolean): void {
    if (this.#model.state === 'sending') return;
    if (isYes !== undefined) this.#form.choose(isYes);
    if (this.#model.isUnsent && this.#model.resend()) return;
    const result = this.#form.submit();
    if (result.ok) this.#model.send({ action: 'accept', content: result.content });
  }

  /** Pressing the link is the consent. The browser opens the tab, which this must not delay or cancel. */
  #open(event: MouseEvent): void {
    if (event.type === 'auxclick' && event.button !== 1) return;
    if (!this.#inView.isReady) {
      event.preventDefault();
      this.#announce(this.#words().lookFirst);
    } else if (this.#model.view?.status === 'pending') this.#model.send({ action: 'accept' });
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    this.requestUpdate();
    await this.#model.read();
    this.#isChecking = false;
    this.requestUpdate();
  }

  async #copy(href: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(href);
      this.#announce(this.#words().copied);
    } catch {
      const address = this.renderRoot.querySelector('#address');
      if (address !== null) getSelection()?.selectAllChildren(address);
      this.#announce(this.#words().copyFailed);
    }
  }

  /** Escape must not close a surrounding dialog while the form has unsaved values. */
  #onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !this.#form.isDirty) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * A message from the opened page: the question's id, from the URL's origin. It only makes the card read its question, because
   * any script of that origin could have sent it.
   */
  #onMessage({ origin, data }: MessageEvent<unknown>): void {
    const { elicitationId: id, url = '' } = this.#model.view ?? {};
    if (data === id && URL.canParse(url) && new URL(url).origin === origin) void this.#model.read();
  }

  #words(): Strings {
    return this.#language.with(this.strings);
  }

  #updateCountdown(): void {
    clearTimeout(this.#countdownTimer);
    const leftMs = remainingMs(this.#model.view, this.server);
    const mark = markPassed(this.#leftMs, leftMs);
    this.#leftMs = leftMs;
    // Only the server decides when a question has expired; it may have accepted an answer just before.
    if (mark === 0) void this.#model.read();
    else if (mark !== undefined) this.#announce(this.#words().timeLeft(mark));
    if (leftMs && this.isConnected) this.#countdownTimer = setTimeout(this.#render, nextChange(leftMs));
  }

  #onState(state: CardState, before: CardState | undefined): void {
    const { view, isHere, wasOpen, refusal } = this.#model;
    const words = this.#words();
    if (view && !isOpen(view) && wasOpen && isOver(state)) dispatch(this, 'settled', view, { here: isHere });
    if (state === 'pending' && before !== 'sending')
      this.#announce(words.arrived(agentOf(view, this.agent, words)));
    else if (state === 'opened' && view?.url) this.#announce(words.waitingThere);
    else if (state === 'offline') this.#announce(words.offline);
    else if (refusal) this.#announce(words.refusal(refusal.code, refusal.retryAfterSeconds));
    else if (wasOpen) this.#announce(endOf(view, state, words) ?? '');
  }

  #announce(sentence: string): void {
    clearTimeout(this.#announceTimer);
    this.#announced = '';
    this.#announceTimer = setTimeout(() => {
      this.#announced = sentence;
      this.requestUpdate();
    }, ANNOUNCE_DELAY_MS);
    this.requestUpdate();
  }
}
