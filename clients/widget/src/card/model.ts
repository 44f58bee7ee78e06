/**
 * The state of one question in a card, and its exchange with the server. It renders nothing; that is done in `card.ts` and
 * `body.ts`.
 */

import { createRandomId } from '@parley/core';
import { type Elicitation, isOpen, newer } from '../elicitation.ts';
import type { Refusal } from '../server/refusal.ts';
import type { Answer, CardServer } from '../server/type.ts';
import type { CardState } from './state.ts';

/** The delay before an unsent answer is sent again, and the polling interval of a fed card, in ms. */
const REPEAT_MS = 5_000;

const STATUS_OF = { accept: 'accepted', decline: 'declined', cancel: 'cancelled' } as const;

/** The state of one question in a card: its newest view, the answer that was sent, and the result. */
export class CardModel {
  view: Elicitation | undefined;
  /** Why the last answer was refused, while the question is open. */
  refusal: Refusal | undefined;
  /** True if the last answer was not delivered; it is then sent again automatically. */
  isUnsent = false;
  /** True if this card has shown the question while it was open. */
  wasOpen = false;

  readonly #id: string;
  readonly #server: CardServer | undefined;
  readonly #isFed: boolean;
  readonly #onChange: () => void;
  #answer: Answer | undefined;
  /** The person's last action, unless it was refused. */
  #action: Answer['action'] | undefined;
  #isSending = false;
  #isOffline = false;
  #isGone = false;
  #unfollow: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `isFed`: the page itself passes updates, so the card follows nothing. */
  constructor(id: string, server: CardServer | undefined, isFed: boolean, onChange: () => void) {
    this.#id = id;
    this.#server = server;
    this.#isFed = isFed;
    this.#onChange = onChange;
  }

  /** The state of the card. A terminal status from the server overrides everything except an answer that is being sent. */
  get state(): CardState {
    const { status } = this.view ?? {};
    if (this.#isGone && !this.#isSettled) return 'gone';
    if (this.#isSending && !this.isUnsent) return 'sending';
    if (status === 'expired' || status === 'withdrawn') return status;
    if (status && this.#isSettled) return this.wasOpen && !this.isHere ? 'elsewhere' : status;
    if (this.isUnsent || this.#isOffline) return 'offline';
    return this.refusal ? 'refused' : (status ?? 'loading');
  }

  /** Whether this card settled the question. */
  get isHere(): boolean {
    return this.#action !== undefined && STATUS_OF[this.#action] === this.view?.status;
  }

  get #isSettled(): boolean {
    return this.view !== undefined && !isOpen(this.view);
  }

  /** Follows the question until it is settled or `stop` is called. Does nothing for a settled question. */
  start(): void {
    if (this.#server === undefined || this.#id === '' || this.#isSettled) return;
    if (this.#isFed) void this.read();
    else {
      this.#unfollow = this.#server.follow(
        this.#id,
        (view) => this.update(view),
        (state) => this.#setOffline(state === 'offline'),
        () => this.#setGone(),
      );
    }
    this.#timer = setInterval(() => {
      if (this.isUnsent || this.view?.status === 'opened') this.refresh();
    }, REPEAT_MS);
    // The server object may already have called the listener.
    if (this.#isSettled) this.stop();
  }

  stop(): void {
    this.#unfollow?.();
    clearInterval(this.#timer);
  }

  /** Sends an unsent answer and reads a fed question again. Call it when the page is shown or online again. */
  refresh(): void {
    if (document.visibilityState === 'hidden' || this.#isSettled) return;
    this.resend();
    if (this.#isFed) void this.read();
  }

  /** Takes a view of the question, from any source. */
  update(next: Elicitation): void {
    const before = this.view?.status;
    // Streams do not contain answers, so a known answer is kept.
    const content = next.content ?? this.view?.content;
    this.view = { ...newer(this.view, next), ...(content && { content }) };
    this.#isGone = false;
    if (this.view.status !== before) this.refusal = undefined;
    if (this.#isSettled) {
      this.#answer = undefined;
      this.isUnsent = false;
      this.stop();
      if (this.view.status !== before && this.view.mode === 'form' && !content) void this.read();
    } else this.wasOpen = true;
    this.#onChange();
  }

  /** Sends an answer, unless one is being sent. */
  send(answer: Answer): void {
    if (this.#isSending && !this.isUnsent) return;
    // A repeat of the same action keeps its `responseId`, so that it counts once.
    if (this.#answer?.action !== answer.action) {
      this.#answer = { responseId: createRandomId(), ...answer };
    }
    this.isUnsent = false;
    this.resend();
  }

  resend(): boolean {
    if (this.#answer !== undefined && !this.#isSending) void this.#deliver(this.#answer);
    return this.#answer !== undefined;
  }

  /** Discards the unsent answer, because the person changes it. */
  dropUnsent(): void {
    if (!this.isUnsent) return;
    this.#answer = undefined;
    this.isUnsent = this.#isSending;
    this.#onChange();
  }

  /** Reads the question. A failure changes only the connection's state. */
  async read(): Promise<void> {
    if (this.#server === undefined || this.#id === '') return;
    try {
      this.update(await this.#server.read(this.#id));
      if (this.#isFed) this.#setOffline(false);
    } catch (error) {
      if (!isRefusal(error)) return;
      if (error.code === 'not_found') this.#setGone();
      else if (this.#isFed && isNoReply(error)) this.#setOffline(true);
    }
  }

  async #deliver(answer: Answer): Promise<void> {
    if (this.#server === undefined) {
      throw new Error('An <elicitation-card> needs a `server` to answer');
    }
    this.refusal = undefined;
    this.#action = answer.action;
    this.#isSending = true;
    this.#onChange();
    try {
      this.update(await this.#server.answer(this.#id, answer));
      this.#answer = undefined;
      this.isUnsent = false;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isSending = false;
      this.#onChange();
    }
  }

  #fail(error: unknown): void {
    if (isRefusal(error) && isNoReply(error)) {
      this.isUnsent = !this.#isSettled && this.#answer !== undefined;
      return;
    }
    this.#answer = undefined;
    this.#action = undefined;
    this.isUnsent = false;
    if (!isRefusal(error)) throw error;
    if (error.code === 'not_found') this.#setGone();
    else this.refusal = error;
    if (error.elicitation !== undefined) this.update(error.elicitation);
  }

  #setOffline(isOffline: boolean): void {
    if (this.#isOffline && !isOffline) this.resend();
    this.#isOffline = isOffline;
    this.#onChange();
  }

  #setGone(): void {
    this.#isGone = true;
    this.#onChange();
  }
}

function isNoReply({ status }: Refusal): boolean {
  return status === 0 || status >= 500;
}

/** Checks the properties, because the class is in another bundle, that of the server object. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'Refusal';
}
