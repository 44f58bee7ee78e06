/** The element of a step's calls: properties, focus and keys. Its state is in `model.ts`, its look in `call.ts`. */

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { type Approval, isPending } from '../approval.ts';
import { markPassed, nextChange } from '../card/countdown.ts';
import { cardStyles } from '../card/styles.ts';
import { formStyles } from '../form/styles.ts';
import { FormView } from '../form/view.ts';
import type { Refusal } from '../server/refusal.ts';
import type { ApprovalCardServer } from '../server/type.ts';
import { ENGLISH_APPROVAL } from '../strings/approval.ts';
import { ENGLISH } from '../strings/en.ts';
import { LocalizedStrings } from '../strings/localized.ts';
import { button, type CallActions, callView } from './call.ts';
import { createEditForm, type EditForm } from './edit.ts';
import { dispatchApproval } from './events.ts';
import { headView, isOver, remainingMs } from './head.ts';
import { callIdAt, InViewTimers, idsOf } from './in-view.ts';
import { CallModel } from './model.ts';
import { approvalStyles } from './styles.ts';
import { askerOf, type CardStrings, endOfCall, toolNameOf } from './texts.ts';

/** Delay between clearing the live region and filling it, in ms: screen readers announce only changes. */
const ANNOUNCE_DELAY_MS = 250;

/** `<approval-card>`: the calls of a step that wait for a person. It needs `server`, and `approval-id` or `approvals`. */
export class ApprovalCard extends LitElement {
  static override styles = [cardStyles, formStyles, approvalStyles];
  static override properties = {
    approvals: { attribute: false },
    approvalId: { attribute: 'approval-id' },
    server: { attribute: false },
    strings: { attribute: false },
    lang: { reflect: true },
    theme: { reflect: true },
    headingLevel: { attribute: 'heading-level', type: Number },
  };

  /** The approvals of one step. Set a new list on each change; outdated views are ignored. */
  declare approvals: readonly Approval[] | undefined;
  /** One id, or several separated by blanks. */
  declare approvalId: string | undefined;
  /** The connection to Parley. Without it, the card only displays the calls. */
  declare server: ApprovalCardServer | undefined;
  /** Replaces some of the widget's texts. */
  declare strings: Partial<CardStrings> | undefined;
  /** @default the page's `color-scheme` */
  declare theme: 'light' | 'dark' | undefined;
  /** Level of the card's heading in the page. @default 3 */
  declare headingLevel: number;

  readonly #language = new LocalizedStrings<CardStrings>(this, { ...ENGLISH, ...ENGLISH_APPROVAL });
  readonly #render = () => this.requestUpdate();
  #calls: readonly CallModel[] = [];
  readonly #form = new FormView(this, { onSubmit: () => this.#edited && this.#approveEdited(this.#edited) });
  #editForm: EditForm | undefined;
  #refusal: Refusal | undefined;
  #strayErrors: readonly string[] = [];
  readonly #inView = new InViewTimers(this.#render);
  #listening: AbortController | undefined;
  #hadFocus = false;
  /** The part that gets the focus after the next rendering. */
  #focusNext: string | undefined;
  #leftMs: number | undefined;
  #countdownTimer: ReturnType<typeof setTimeout> | undefined;
  /** Text of the live region. */
  #announced = '';
  #announceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.headingLevel = 3;
    this.addEventListener('keydown', (event) => this.#onKey(event));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#listening = new AbortController();
    document.addEventListener('visibilitychange', () => this.#inView.update(), this.#listening);
    for (const call of this.#calls) call.start();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#listening?.abort();
    for (const call of this.#calls) call.stop();
    this.#inView.watch([]);
    clearTimeout(this.#countdownTimer);
    clearTimeout(this.#announceTimer);
  }

  /** Focuses the first button, or the heading if there is no button. */
  override focus(options?: FocusOptions): void {
    (this.#find('.primary') ?? this.#find('.title'))?.focus(options);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    this.#hadFocus = this.shadowRoot?.activeElement != null;
    if (changed.has('server') || changed.has('approvals') || changed.has('approvalId')) {
      this.#setCalls(changed.has('server'));
    }
    const edited = this.#edited;
    if (edited?.refusal !== this.#refusal) {
      this.#refusal = edited?.refusal;
      this.#strayErrors = this.#form.showErrors(this.#editForm?.placed(this.#refusal?.errors ?? []) ?? []);
    }
    if (edited === undefined) this.#form.clear();
  }

  protected override render(): TemplateResult {
    const strings = this.#words();
    const pending = this.#calls.filter(({ isPending }) => isPending);
    const isSending = pending.some(({ state }) => state === 'sending');
    const hasOwnPanel = pending.some(({ panel }) => panel !== 'none');
    return html`
      <div class="card" part="card" role="group" aria-labelledby="title" aria-busy=${this.#calls.some(({ state }) => state === 'loading')}>
        ${headView({ calls: this.#calls, strings, headingLevel: this.headingLevel, leftMs: remainingMs(this.#calls, this.server ?? Date) })}
        ${this.#calls.map((call, at) => this.#callView(call, at, strings))}
        ${
          pending.length > 1 && !hasOwnPanel
            ? html`<div class="actions all" part="all" data-calls=${idsOf(pending)}>
                ${button('primary', strings.approveAll(pending.length), isSending || !this.#inView.isReady(pending), () => this.#approve(pending))}
                ${button('deny', strings.denyAll(pending.length), isSending, () => this.#deny(pending))}
              </div>`
            : nothing
        }
      </div>
      <div class="said" role="status">${this.#announced}</div>
    `;
  }

  protected override updated(): void {
    const words = this.#words();
    const [first] = this.#calls;
    const open = this.#calls.find(({ isPending }) => isPending);
    this.dataset.state = (open ?? first)?.state ?? 'loading';
    this.toggleAttribute('data-over', first !== undefined && this.#calls.every(isOver));
    this.#inView.watch(this.renderRoot.querySelectorAll('.primary'));
    for (const call of this.#calls) this.#onCall(call, words);
    this.#updateCountdown();
    const next = this.#focusNext && this.#find(this.#focusNext);
    this.#focusNext = undefined;
    if (next) next.focus();
    // If the focused element is gone, the focus stays in the card, but it never enters it by itself.
    else if (this.#hadFocus && this.shadowRoot?.activeElement == null) {
      this.#find('.title')?.focus({ preventScroll: true });
    }
  }

  get #edited(): CallModel | undefined {
    return this.#calls.find(({ panel, isPending }) => panel === 'edit' && isPending);
  }

  #setCalls(isOtherServer: boolean): void {
    const views = new Map(this.approvals?.map((view) => [view.approvalId, view]));
    const ids = [...new Set([...views.keys(), ...(this.approvalId?.split(/\s+/).filter(Boolean) ?? [])])];
    const known = isOtherServer ? [] : this.#calls;
    const kept = this.#calls.filter((call) => known.includes(call) && ids.includes(call.id));
    for (const call of this.#calls) if (!kept.includes(call)) call.stop();
    this.#calls = ids.map((id) => {
      const call = kept.find((one) => one.id === id) ?? new CallModel(id, this.server, this.#render);
      const view = views.get(id);
      if (view?.serverTime !== undefined) this.server?.noteTime(view.serverTime);
      if (view !== undefined) call.update(view);
      if (!kept.includes(call) && this.isConnected) call.start();
      return call;
    });
  }

  #callView(call: CallModel, at: number, strings: CardStrings) {
    const isEdited = call === this.#edited;
    return callView({
      call,
      at,
      strings,
      actions: this.#actions,
      headingLevel: this.#calls.length > 1 ? this.headingLevel + 1 : 0,
      isReady: this.#inView.isReady([call]),
      isEditTaken: this.#edited !== undefined,
      fields: isEdited
        ? this.#form.render(call.state === 'sending', {
            ...strings,
            hint: (field) => (field.kind === 'text' ? undefined : strings.hint(field)),
          })
        : undefined,
      strayErrors: isEdited ? this.#strayErrors : (call.refusal?.errors ?? []).map(({ message }) => message),
      kept: isEdited ? (this.#editForm?.kept ?? []) : [],
    });
  }

  readonly #actions: CallActions = {
    approve: (call) => this.#approve([call]),
    approveEdited: (call) => this.#approveEdited(call),
    open: (call, panel) => this.#open(call, panel),
    deny: (call) => this.#deny([call]),
  };

  /** A press right after the button appeared may have been meant for something else. */
  #isTooEarly(calls: readonly CallModel[]): boolean {
    const isReady = this.#inView.isReady(calls);
    if (!isReady) this.#announce(this.#words().checkCallFirst);
    return !isReady;
  }

  #approve(calls: readonly CallModel[]): void {
    if (this.#isTooEarly(calls)) return;
    for (const call of calls)
      void call.send({ decision: 'approve', ...(call.remember && { remember: true }) });
  }

  #approveEdited(call: CallModel): void {
    if (this.#isTooEarly([call]) || call.state === 'sending' || this.#editForm === undefined) return;
    const submitted = this.#form.submit();
    if (!submitted.ok) return;
    const read = this.#editForm.read(submitted.content, this.#words().badJson);
    if ('arguments' in read) void call.send({ decision: 'edit', arguments: read.arguments });
    else this.#form.showErrors(read.errors);
  }

  #deny(calls: readonly CallModel[]): void {
    for (const call of calls) {
      const reason = call.reason.trim();
      void call.send({ decision: 'deny', ...(reason !== '' && { reason }) });
    }
  }

  #open(call: CallModel, panel: CallModel['panel']): void {
    const { view, state } = call;
    if (view === undefined || state === 'sending' || (panel === 'edit' && this.#edited)) return;
    const at = this.#calls.indexOf(call);
    const within = `[data-id="${CSS.escape(call.id)}"]`;
    if (panel === 'none') this.#focusNext = `${within} .${call.panel}`;
    else this.#focusNext = panel === 'deny' ? `#reason-${at}` : `${within} .form :is(.entry, input)`;
    if (call.panel === 'edit') this.#form.clear();
    // A reason that is no longer visible must not be sent with another button.
    call.reason = '';
    call.panel = panel;
    call.refusal = undefined;
    if (panel === 'edit') {
      this.#editForm = createEditForm(view);
      this.#form.setSchema(this.#editForm.schema, { elicitationId: call.id });
    }
    this.requestUpdate();
  }

  /** Escape closes the open panel of its call, or the first one; it never discards changed arguments. */
  #onKey(event: KeyboardEvent): void {
    const within = callIdAt(event.composedPath()[0] as Element);
    const open = this.#calls.find(({ id, panel }) => panel !== 'none' && id === (within ?? id));
    if (event.key !== 'Escape' || open === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (!(open.panel === 'edit' && this.#form.isDirty)) this.#open(open, 'none');
  }

  #onCall(call: CallModel, words: CardStrings): void {
    const { view, shown, wasPending } = call;
    if (view === undefined || view.status === shown) return;
    call.shown = view.status;
    const [first] = this.#calls;
    if (isPending(view)) {
      if (call === first) this.#announce(words.approvalArrived(askerOf(view, words)));
      return;
    }
    if (shown !== undefined) dispatchApproval(this, 'change', view);
    if (!wasPending) return;
    dispatchApproval(this, 'settled', view, { here: call.isHere });
    this.#announce(`${toolNameOf(view)}: ${endOfCall(call, words)}`);
  }

  #updateCountdown(): void {
    clearTimeout(this.#countdownTimer);
    const leftMs = remainingMs(this.#calls, this.server ?? Date);
    const mark = markPassed(this.#leftMs, leftMs);
    this.#leftMs = leftMs;
    // The server decides when an approval has expired.
    if (mark === 0) for (const call of this.#calls) void call.read();
    else if (mark !== undefined) this.#announce(this.#words().timeLeft(mark));
    if (leftMs && this.isConnected) this.#countdownTimer = setTimeout(this.#render, nextChange(leftMs));
  }

  #find(selector: string): HTMLElement | null {
    return this.renderRoot.querySelector(selector);
  }

  #words(): CardStrings {
    return this.#language.with(this.strings);
  }

  #announce(sentence: string): void {
    clearTimeout(this.#announceTimer);
    this.#announced = '';
    this.#announceTimer = setTimeout(() => {
      this.#announced = sentence;
      this.requestUpdate();
    }, ANNOUNCE_DELAY_MS);
  }
}
