import { html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { type Elicitation, isOpen } from '../elicitation.ts';
import { formStyles } from '../form/styles.ts';
import { FormView } from '../form/view.ts';
import type { Refusal } from '../server/refusal.ts';
import type { ElicitationServer } from '../server/type.ts';
import { ENGLISH } from '../strings/en.ts';
import type { Strings } from '../strings/strings.ts';
import { Words } from '../strings/words.ts';
import { cardView, endOf } from './body.ts';
import { markPassed, nextChange, timeLeft } from './countdown.ts';
import { tell } from './events.ts';
import type { Acts } from './facts.ts';
import { agentOf } from './head.ts';
import { CardLife } from './life.ts';
import { SeenFor } from './seen.ts';
import { type CardState, isOver } from './state.ts';
import { cardStyles } from './styles.ts';

/** A pause between emptying the live region and filling it, in ms: only what changes is read out. */
const SAY_MS = 250;

/**
 * `<elicitation-card>`: one question of an agent, from asked to settled. Give it `server` and a question: either
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

  readonly #language = new Words<Strings>(this, ENGLISH);
  readonly #again = () => this.requestUpdate();
  #id: string | undefined;
  #life = this.#lifeOf();
  readonly #form = new FormView(this, {
    onSubmit: () => this.#submit(),
    onChange: () => this.#life.dropUnsent(),
  });
  readonly #seen = new SeenFor(this.#again);
  #ear: AbortController | undefined;
  #state: CardState | undefined;
  #told: Elicitation | undefined;
  #refusal: Refusal | undefined;
  #leftovers: readonly string[] = [];
  #isChecking = false;
  #hadFocus = false;
  #left: number | undefined;
  #tick: ReturnType<typeof setTimeout> | undefined;
  /** What the live region says. */
  #said = '';
  #saying: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.addEventListener('keydown', (event) => this.#key(event));
    this.fed = false;
    this.headingLevel = 3;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#ear = new AbortController();
    const { signal } = this.#ear;
    const wake = () => {
      this.#seen.judge();
      this.#life.wake();
    };
    document.addEventListener('visibilitychange', wake, { signal });
    // A page that comes back from the back/forward cache lost its connections.
    for (const name of ['focus', 'pageshow', 'online']) window.addEventListener(name, wake, { signal });
    window.addEventListener('message', (event) => this.#hint(event), { signal });
    this.#life.start();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#ear?.abort();
    this.#life.stop();
    this.#seen.watch(undefined);
    clearTimeout(this.#tick);
    clearTimeout(this.#saying);
  }

  /** To the first field, else to what can be pressed, else to the heading. */
  override focus(options?: FocusOptions): void {
    const find = (selector: string) => this.renderRoot.querySelector<HTMLElement>(selector);
    (find('.form :is(.entry, input)') ?? find('.primary') ?? find('.title'))?.focus(options);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.#hadFocus = this.shadowRoot?.activeElement != null;
    const news = changed.has('elicitation') ? this.elicitation : undefined;
    const id =
      news?.elicitationId ?? (changed.has('elicitationId') ? this.elicitationId : undefined) ?? this.#id;
    const isOther = id !== this.#id || changed.has('server') || changed.has('fed');
    if (isOther) this.#turnTo(id);
    if (news?.serverTime !== undefined) this.server?.noteTime(news.serverTime);
    if (news !== undefined) this.#life.take(news);
    if (isOther && this.isConnected) this.#life.start();
    this.#prepareForm();
  }

  protected override render(): TemplateResult {
    const strings = this.#words();
    const { view, state, refusal, isUnsent } = this.#life;
    return html`${cardView({
      view,
      state,
      agent: agentOf(view, this.agent, strings),
      strings,
      headingLevel: this.headingLevel,
      left: timeLeft(state === 'gone' ? undefined : view, this.server),
      refusal,
      leftovers: this.#leftovers,
      fields: this.#form.render(state === 'sending', strings),
      acts: this.#acts,
      isChecking: this.#isChecking,
      isUnsent,
      isAwake: this.#seen.isSeen,
    })}<div class="said" role="status">${this.#said}</div>`;
  }

  protected override updated(): void {
    const { view, state } = this.#life;
    const [before, told] = [this.#state, this.#told];
    this.#state = state;
    this.#told = view;
    this.dataset.state = state;
    this.toggleAttribute('data-over', isOver(state));
    if (view === undefined) delete this.dataset.status;
    else this.dataset.status = view.status;
    this.#seen.watch(this.renderRoot.querySelector('a') ?? undefined);
    if (view !== undefined && told?.elicitationId === view.elicitationId && told.status !== view.status) {
      tell(this, 'change', view);
    }
    if (state !== before) this.#enter(state, before);
    this.#count();
    // What had the focus may be gone: it stays in the card, and never comes to it by itself.
    if (this.#hadFocus && this.shadowRoot?.activeElement == null) {
      this.renderRoot.querySelector<HTMLElement>('.title')?.focus({ preventScroll: true });
    }
  }

  #lifeOf(elicitationId = ''): CardLife {
    return new CardLife(elicitationId, this.server, this.fed, this.#again);
  }

  #turnTo(id: string | undefined): void {
    const { view } = this.#life;
    this.#life.stop();
    this.#life = this.#lifeOf(id);
    if (id === this.#id && view !== undefined) this.#life.take(view);
    if (id !== this.#id) {
      this.#state = undefined;
      this.#left = undefined;
      this.#seen.watch(undefined);
    }
    this.#id = id;
  }

  #prepareForm(): void {
    const { view, refusal } = this.#life;
    if (view !== undefined && !isOpen(view)) this.#form.clear();
    else if (view?.mode === 'form') {
      this.#form.setSchema(view.requestedSchema, { elicitationId: this.#id, isSensitive: view.sensitive });
    }
    if (refusal === this.#refusal) return;
    this.#refusal = refusal;
    this.#leftovers = this.#form.showErrors(refusal?.errors ?? []);
  }

  readonly #acts: Acts = {
    open: (event) => this.#open(event),
    submit: () => this.#submit(),
    decline: () => this.#life.send({ action: 'decline' }),
    cancel: () => this.#life.send({ action: 'cancel' }),
    check: () => void this.#check(),
    copy: (href) => void this.#copy(href),
  };

  #submit(): void {
    if (this.#life.state === 'sending') return;
    if (this.#life.isUnsent && this.#life.resend()) return;
    const result = this.#form.submit();
    if (result.ok) this.#life.send({ action: 'accept', content: result.content });
  }

  /** The press is the consent. The link opens its tab by itself, so nothing here may keep it from that. */
  #open(event: MouseEvent): void {
    if (event.type === 'auxclick' && event.button !== 1) return;
    if (!this.#seen.isSeen) {
      event.preventDefault();
      this.#say(this.#words().lookFirst);
    } else if (this.#life.view?.status === 'pending') this.#life.send({ action: 'accept' });
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    this.requestUpdate();
    await this.#life.look();
    this.#isChecking = false;
    this.requestUpdate();
  }

  async #copy(href: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(href);
      this.#say(this.#words().copied);
    } catch {
      const address = this.renderRoot.querySelector('#address');
      if (address !== null) getSelection()?.selectAllChildren(address);
      this.#say(this.#words().copyFailed);
    }
  }

  /** Escape takes nothing away here, and a dialog around must not close over what was typed. */
  #key(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !this.#form.isDirty) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * A word from the page that a question opened: its id, from its origin. That is only a reason to look how it stands,
   * for any script of that origin could have said it, and most such pages cannot say it at all.
   */
  #hint({ origin, data }: MessageEvent<unknown>): void {
    const { elicitationId, url = '' } = this.#life.view ?? {};
    if (data === elicitationId && URL.canParse(url) && new URL(url).origin === origin) void this.#life.look();
  }

  #words(): Strings {
    return this.#language.with(this.strings);
  }

  #count(): void {
    clearTimeout(this.#tick);
    const left = timeLeft(this.#life.view, this.server);
    const mark = markPassed(this.#left, left);
    this.#left = left;
    // The end is said when the server says it; until then it may still have taken an answer.
    if (mark === 0) void this.#life.look();
    else if (mark !== undefined) this.#say(this.#words().timeLeft(mark));
    if (left && this.isConnected) this.#tick = setTimeout(this.#again, nextChange(left));
  }

  #enter(state: CardState, before: CardState | undefined): void {
    const { view, isHere, wasOpen, refusal } = this.#life;
    const words = this.#words();
    if (view !== undefined && !isOpen(view) && wasOpen && isOver(state))
      tell(this, 'settled', view, { here: isHere });
    if (state === 'pending' && before !== 'sending')
      this.#say(words.arrived(agentOf(view, this.agent, words)));
    else if (state === 'opened') this.#say(words.waitingThere);
    else if (state === 'offline') this.#say(words.offline);
    else if (refusal) this.#say(words.refusal(refusal.code, refusal.retryAfterSeconds));
    else if (wasOpen) this.#say(endOf(view, state, words) ?? '');
  }

  #say(sentence: string): void {
    clearTimeout(this.#saying);
    this.#said = '';
    this.#saying = setTimeout(() => {
      this.#said = sentence;
      this.requestUpdate();
    }, SAY_MS);
    this.requestUpdate();
  }
}
