import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import type { Acts } from './card-actions.ts';
import { copy } from './card-address.ts';
import { endOf, endView, loadingView, openView, sentenceView } from './card-body.ts';
import { Countdown, type Mark } from './card-countdown.ts';
import { agentOf } from './card-head.ts';
import { PageHint } from './card-hint.ts';
import { languageOf } from './card-language.ts';
import { CardLife } from './card-life.ts';
import { SeenFor } from './card-seen.ts';
import { type CardState, isOver, stateOf } from './card-state.ts';
import { createServerClock } from './clock.ts';
import { type Elicitation, isOpen } from './elicitation.ts';
import { formStyles } from './form-styles.ts';
import { FormView } from './form-view.ts';
import type { ElicitationServer, Refusal } from './server.ts';
import { type Strings, stringsFor } from './strings.ts';
import { cardStyles } from './styles.ts';

/** How long the link to a page must have been in view before it works, in ms. */
const LOOK_FIRST_MS = 1_000;
/** A pause before the live region is first filled, in ms: what it holds when it comes is not read out. */
const FIRST_WORDS_MS = 250;

/** Detail of `elicitation-change`: the question went from one status to another. */
export interface ElicitationChange {
  readonly elicitationId: string;
  readonly status: Elicitation['status'];
}

/** Detail of `elicitation-settled`. `here` is true when it was this card that settled it. */
export interface ElicitationSettled extends ElicitationChange {
  readonly here: boolean;
}

/**
 * `<elicitation-card>`: one question of an agent, from asked to settled. Give it `server` and a question: either
 * `elicitation-id`, or `elicitation` as it came with the chat. See docs/widget.md.
 */
export class ElicitationCard extends LitElement {
  static override styles = [...cardStyles, formStyles];
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

  /** The question as the page knows it. Each new object is news; older news than the card has are passed over. */
  declare elicitation: Elicitation | undefined;
  declare elicitationId: string | undefined;
  /** The way to Parley. Without it the card only shows. */
  declare server: ElicitationServer | undefined;
  /** Words in place of the widget's own. */
  declare strings: Partial<Strings> | undefined;
  /** Who asks; without it, whom the question names. */
  declare agent: string | undefined;
  /** Without it, as the page's `color-scheme` has it. */
  declare theme: 'light' | 'dark' | undefined;
  /** The page hands over news of the question itself, from its chat stream. */
  declare fed: boolean;
  /** Level of the card's heading in the page. @default 3 */
  declare headingLevel: number;

  readonly #life = new CardLife(this);
  readonly #form = new FormView(this, () => this.#submit());
  readonly #seen = new SeenFor(this, LOOK_FIRST_MS);
  readonly #countdown = new Countdown(
    this,
    () => this.#left(),
    (mark) => this.#passed(mark),
  );
  readonly #clock = createServerClock();
  #id: string | undefined;
  #state: CardState | undefined;
  #told: Elicitation | undefined;
  #refusal: Refusal | undefined;
  #leftovers: readonly string[] = [];
  #isChecking = false;
  #hadFocus = false;
  /** What the live region says. */
  #said = '';
  #greeting: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    new PageHint(
      this,
      () => this.#life.view,
      () => void this.#life.look(),
    );
    this.addEventListener('keydown', (event) => this.#key(event));
    this.fed = false;
    this.headingLevel = 3;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#greeting);
  }

  /** To the first field, else to what can be pressed, else to the heading. */
  override focus(options?: FocusOptions): void {
    const find = (selector: string) => this.renderRoot.querySelector<HTMLElement>(selector);
    (find('.form :is(input, select, textarea)') ?? find('.primary') ?? find('.title'))?.focus(options);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.#noteFocus();
    const news = changed.has('elicitation') ? this.elicitation : undefined;
    const id =
      news?.elicitationId ?? (changed.has('elicitationId') ? this.elicitationId : undefined) ?? this.#id;
    if (id !== this.#id) this.#state = undefined;
    this.#id = id;
    this.#clock.note(news?.serverTime);
    this.#life.turnTo({ elicitationId: this.#id, server: this.server, isFed: this.fed }, news);
    const { view, refusal } = this.#life;
    this.#countdown.restart(`${this.#id} ${view?.expiresAt}`);
    this.#form.setStrings(this.#words());
    if (view?.mode === 'form' && isOpen(view)) {
      this.#form.setSchema(view.requestedSchema, { elicitationId: this.#id, isSensitive: view.sensitive });
    }
    if (refusal !== this.#refusal) {
      this.#refusal = refusal;
      this.#leftovers = refusal === undefined ? [] : this.#form.showErrors(refusal.errors);
    }
  }

  protected override render(): TemplateResult {
    return html`${this.#bodyView()}<div class="said" role="status">${this.#said}</div>`;
  }

  protected override updated(): void {
    const { view } = this.#life;
    const before = this.#state;
    const state = stateOf(this.#life);
    this.#state = state;
    this.setAttribute('data-state', state);
    this.toggleAttribute('data-over', isOver(state));
    if (view === undefined) this.removeAttribute('data-status');
    else this.setAttribute('data-status', view.status);
    this.#seen.watch(this.renderRoot.querySelector('a.primary') ?? undefined);
    this.#tellChange(view);
    if (state !== before) this.#enter(state, before);
    this.#keepFocus(state !== before && state === 'refused');
  }

  #bodyView(): TemplateResult {
    const strings = this.#words();
    const { view } = this.#life;
    const state = stateOf(this.#life);
    if (view === undefined) {
      if (state === 'gone') return sentenceView('no', strings.gone);
      return state === 'offline' ? sentenceView('away', strings.offline) : loadingView(strings);
    }
    const agent = agentOf(view, this.agent, strings);
    const head = { view, state, agent, strings, headingLevel: this.headingLevel, left: this.#left() };
    if (isOver(state)) return endView(head);
    return openView({
      ...head,
      acts: this.#acts,
      isChecking: this.#isChecking,
      hasUnsent: this.#life.unsent !== undefined,
      isAwake: this.#seen.isSeen,
      refusal: this.#life.refusal,
      leftovers: this.#leftovers,
      fields: this.#form.render(state === 'sending'),
      input: this.#typed,
      copy: this.#copy,
    });
  }

  readonly #acts: Acts = {
    open: (event) => this.#open(event),
    submit: () => this.#submit(),
    decline: () => this.#life.send({ action: 'decline' }),
    cancel: () => this.#life.send({ action: 'cancel' }),
    check: () => void this.#check(),
  };

  #submit(): void {
    const { unsent, sending } = this.#life;
    if (sending !== undefined) return;
    const result = unsent === undefined ? this.#form.submit() : undefined;
    if (unsent !== undefined) this.#life.send(unsent);
    else if (result?.ok) this.#life.send({ action: 'accept', content: result.content });
  }

  readonly #typed = (): void => this.#life.dropUnsent();

  readonly #copy = async (href: string): Promise<void> => {
    const isCopied = await copy(href);
    const address = this.renderRoot.querySelector('#address');
    if (!isCopied && address !== null) getSelection()?.selectAllChildren(address);
    this.#say(isCopied ? this.#words().copied : this.#words().copyFailed);
  };

  /** The press is the consent. The link opens its tab by itself, so nothing here may keep it from that. */
  #open(event: MouseEvent): void {
    if (event.type === 'auxclick' && event.button !== 1) return;
    if (!this.#seen.isSeen) {
      event.preventDefault();
      this.#say(this.#words().lookFirst);
      return;
    }
    const { view, unsent } = this.#life;
    if (view?.status === 'pending')
      this.#life.send(unsent?.action === 'accept' ? unsent : { action: 'accept' });
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    this.requestUpdate();
    await this.#life.look();
    this.#isChecking = false;
    this.requestUpdate();
  }

  /** Escape takes nothing away here, and a dialog around must not close over what was typed. */
  #key(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !this.#form.isDirty || isOver(stateOf(this.#life))) return;
    event.preventDefault();
    event.stopPropagation();
  }

  #words(): Strings {
    return stringsFor(languageOf(this), this.strings);
  }

  #left(): number | undefined {
    const { view } = this.#life;
    if (view?.expiresAt === undefined || !isOpen(view)) return undefined;
    const left = Date.parse(view.expiresAt) - (this.server ?? this.#clock).now();
    return Number.isNaN(left) ? undefined : Math.max(0, left);
  }

  #passed(mark: Mark): void {
    // The end is said when the server says it; until then it may still have taken an answer.
    if (mark === 0) void this.#life.look();
    else this.#say(this.#words().timeLeft(mark));
  }

  #enter(state: CardState, before: CardState | undefined): void {
    const { view, isHere, wasOpen, refusal } = this.#life;
    const words = this.#words();
    if (view !== undefined && isOver(state) && wasOpen) {
      const { elicitationId, status } = view;
      this.#tell('settled', { elicitationId, status, here: isHere });
    }
    const end = view && endOf(view, state, words);
    if (state === 'pending' && view !== undefined && before !== 'sending') {
      const sentence = words.arrived(agentOf(view, this.agent, words));
      this.#greeting = setTimeout(() => this.#say(sentence), FIRST_WORDS_MS);
    } else if (state === 'opened') this.#say(words.waitingThere);
    else if (state === 'offline') this.#say(words.offline);
    else if (state === 'refused' && refusal)
      this.#say(words.refusal(refusal.code, refusal.retryAfterSeconds));
    else if (end !== undefined && wasOpen) this.#say(end);
  }

  #tellChange(view: Elicitation | undefined): void {
    const told = this.#told;
    this.#told = view;
    if (view === undefined || told?.elicitationId !== view.elicitationId || told.status === view.status)
      return;
    this.#tell('change', { elicitationId: view.elicitationId, status: view.status });
  }

  #tell(name: 'change' | 'settled', detail: ElicitationChange | ElicitationSettled): void {
    this.dispatchEvent(new CustomEvent(`elicitation-${name}`, { detail, bubbles: true, composed: true }));
  }

  #say(sentence: string): void {
    clearTimeout(this.#greeting);
    // The same sentence twice is news too, and only a change is read out.
    this.#said = sentence === this.#said ? `${sentence}\u00a0` : sentence;
    this.requestUpdate();
  }

  #noteFocus(): void {
    if (this.shadowRoot?.activeElement != null) this.#hadFocus = true;
    // What is disabled while it is sent loses the focus to nothing; that is no move of the person's.
    else if (this.#state !== 'sending' || document.activeElement !== document.body) this.#hadFocus = false;
  }

  /** What had the focus may be gone: it stays in the card, and never comes to it by itself. */
  #keepFocus(isRefused: boolean): void {
    if (!this.#hadFocus) return;
    if (isRefused) this.#form.focusFirstInvalid();
    if (this.shadowRoot?.activeElement == null) {
      this.renderRoot.querySelector<HTMLElement>('.title')?.focus({ preventScroll: true });
    }
  }
}
