/** The state of one call in an approval card, and its exchange with the server. Rendering is in `call.ts`. */

import type { ApprovalChoice } from '@parley/core';
import { type Approval, isPending, newerApproval } from '../approval.ts';
import type { Refusal } from '../server/refusal.ts';
import type { ApprovalCardServer } from '../server/type.ts';

/** The state of one call, also in `data-state`. `elsewhere`: decided, but not by this card. */
export type CallState =
  | 'loading'
  | 'sending'
  | 'refused'
  | 'offline'
  | 'elsewhere'
  | 'gone'
  | Approval['status'];

const STATUS_OF = { approve: 'approved', edit: 'edited', deny: 'denied' } as const;

/** One call in a card: its newest view, what the person has entered, and the decision that was sent. */
export class CallModel {
  view: Approval | undefined;
  /** Why the last decision was refused or got no reply, while the approval is pending. */
  refusal: Refusal | undefined;
  /** True if this card has shown the approval while it was pending. */
  wasPending = false;
  /** The panel that is open beside the buttons. */
  panel: 'none' | 'edit' | 'deny' = 'none';
  remember = false;
  reason = '';
  /** The status that was shown last, for events. */
  shown: Approval['status'] | undefined;

  readonly id: string;
  readonly #server: ApprovalCardServer | undefined;
  readonly #onChange: () => void;
  #sent: ApprovalChoice['decision'] | undefined;
  #isSending = false;
  #isOffline = false;
  #isGone = false;
  #unfollow: (() => void) | undefined;

  constructor(id: string, server: ApprovalCardServer | undefined, onChange: () => void) {
    this.id = id;
    this.#server = server;
    this.#onChange = onChange;
  }

  get state(): CallState {
    const { view } = this;
    if (view !== undefined && !isPending(view)) {
      const { status } = view;
      if (status === 'expired' || status === 'withdrawn') return status;
      return this.wasPending && !this.isHere ? 'elsewhere' : status;
    }
    if (this.#isGone) return 'gone';
    if (this.#isSending) return 'sending';
    if (this.#isOffline) return 'offline';
    return this.refusal ? 'refused' : (view?.status ?? 'loading');
  }

  /** Whether the person can decide here and now. */
  get isPending(): boolean {
    return this.view !== undefined && isPending(this.view) && !this.#isGone;
  }

  /** Whether this card decided. */
  get isHere(): boolean {
    return this.#sent !== undefined && STATUS_OF[this.#sent] === this.view?.status;
  }

  /** Follows the approval until it is settled or `stop` is called. */
  start(): void {
    if (this.#server === undefined || this.#isSettled) return;
    this.stop();
    this.#unfollow = this.#server.followApproval(
      this.id,
      (view) => this.update(view),
      (connection) => {
        this.#isOffline = connection === 'offline';
        this.#onChange();
      },
      () => {
        this.#isGone = true;
        this.#onChange();
      },
    );
    if (this.#isSettled) this.stop();
  }

  stop(): void {
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  /** Takes a view of the approval, from any source. */
  update(next: Approval): void {
    const before = this.view;
    this.view = newerApproval(before, next);
    this.#isGone = false;
    if (isPending(this.view)) this.wasPending = true;
    else {
      this.panel = 'none';
      this.refusal = undefined;
      this.stop();
      // Streams do not contain what the person wrote, so the edited arguments must be read.
      const isIncomplete = this.view.status === 'edited' && this.view.editedArguments === undefined;
      if (isIncomplete && before?.status !== this.view.status) void this.read();
    }
    this.#onChange();
  }

  /** Sends a decision, unless one is being sent. A decision is never sent later by itself. */
  async send(choice: ApprovalChoice): Promise<void> {
    if (this.#isSending || !this.isPending) return;
    if (this.#server === undefined) throw new Error('An <approval-card> needs a `server` to decide');
    this.refusal = undefined;
    this.#sent = choice.decision;
    this.#isSending = true;
    this.#onChange();
    try {
      this.update(await this.#server.decide(this.id, choice));
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isSending = false;
      this.#onChange();
    }
  }

  /** Reads the approval. A failure changes nothing. */
  async read(): Promise<void> {
    const view = await this.#server?.readApproval(this.id).catch(() => undefined);
    if (view !== undefined) this.update(view);
  }

  get #isSettled(): boolean {
    return this.view !== undefined && !isPending(this.view);
  }

  #fail(error: unknown): void {
    // The error's class may be in another bundle, that of the server object, so `instanceof` does not work.
    if (!(error instanceof Error) || error.name !== 'Refusal') throw error;
    const refusal = error as Refusal;
    // Without a reply, the decision may have been recorded, so it is remembered as sent.
    if (refusal.status > 0 && refusal.status < 500) this.#sent = undefined;
    if (refusal.code === 'not_found') this.#isGone = true;
    else this.refusal = refusal;
    if (refusal.approval !== undefined) this.update(refusal.approval);
  }
}
