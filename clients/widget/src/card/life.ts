import { createRandomId } from '@parley/core';
import { type Elicitation, isOpen, newer } from '../elicitation.ts';
import type { Refusal } from '../server/refusal.ts';
import type { Answer, ElicitationServer } from '../server/type.ts';
import type { CardState } from './state.ts';

/** A pause before an answer that could not be sent is sent again, and between two looks at a fed question, in ms. */
const AGAIN_MS = 5_000;

const STATUS_OF = { accept: 'accepted', decline: 'declined', cancel: 'cancelled' } as const;

/** What a card knows of one question: the newest view, what was sent, what came of it. */
export class CardLife {
  view: Elicitation | undefined;
  /** Why the last answer was not taken, while the question is open. */
  refusal: Refusal | undefined;
  /** The last answer did not get through; it goes out again by itself. */
  isUnsent = false;
  /** This card saw the question open. */
  wasOpen = false;

  readonly #id: string;
  readonly #server: ElicitationServer | undefined;
  readonly #isFed: boolean;
  readonly #onChange: () => void;
  #answer: Answer | undefined;
  /** What the person did last, unless it was refused. */
  #action: Answer['action'] | undefined;
  #isOnItsWay = false;
  #isOffline = false;
  #isGone = false;
  #unfollow: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `isFed`: the page hands over news itself, so that there is only now and then something to look for. */
  constructor(id: string, server: ElicitationServer | undefined, isFed: boolean, onChange: () => void) {
    this.#id = id;
    this.#server = server;
    this.#isFed = isFed;
    this.#onChange = onChange;
  }

  /** The one state of the card. An end that the server told stands above all else but what is on its way. */
  get state(): CardState {
    const { status } = this.view ?? {};
    if (this.#isGone && !this.#isSettled) return 'gone';
    if (this.#isOnItsWay && !this.isUnsent) return 'sending';
    if (status === 'expired' || status === 'withdrawn') return status;
    if (status && this.#isSettled) return this.wasOpen && !this.isHere ? 'elsewhere' : status;
    if (this.isUnsent || this.#isOffline) return 'offline';
    return this.refusal ? 'refused' : (status ?? 'loading');
  }

  /** This card sent what settled it. */
  get isHere(): boolean {
    return this.#action !== undefined && STATUS_OF[this.#action] === this.view?.status;
  }

  get #isSettled(): boolean {
    return this.view !== undefined && !isOpen(this.view);
  }

  /** Follows the question until it is settled, or `stop`. What is over follows nothing. */
  start(): void {
    if (this.#server === undefined || this.#id === '' || this.#isSettled) return;
    if (this.#isFed) void this.look();
    else {
      this.#unfollow = this.#server.follow(
        this.#id,
        (news) => this.take(news),
        (state) => this.#note(state === 'offline'),
        () => this.#vanish(),
      );
    }
    this.#timer = setInterval(() => {
      if (this.isUnsent || this.view?.status === 'opened') this.wake();
    }, AGAIN_MS);
    // What was known may have been told at once.
    if (this.#isSettled) this.stop();
  }

  stop(): void {
    this.#unfollow?.();
    clearInterval(this.#timer);
  }

  /** Looks after what no news will tell; for whenever somebody is at the page again. */
  wake(): void {
    if (document.visibilityState === 'hidden' || this.#isSettled) return;
    this.resend();
    if (this.#isFed) void this.look();
  }

  /** News of the question, from wherever. */
  take(news: Elicitation): void {
    const before = this.view?.status;
    this.view = newer(this.view, news);
    this.#isGone = false;
    if (this.view.status !== before) this.refusal = undefined;
    if (this.#isSettled) {
      this.#answer = undefined;
      this.isUnsent = false;
      this.stop();
    } else this.wasOpen = true;
    this.#onChange();
  }

  /** Sends an answer. One at a time: while one is on its way, another is dropped. */
  send(answer: Answer): void {
    if (this.#isOnItsWay && !this.isUnsent) return;
    // The same once more keeps its name, so that it counts once.
    if (this.#answer?.action !== answer.action) {
      this.#answer = { responseId: createRandomId(), ...answer };
    }
    this.isUnsent = false;
    this.resend();
  }

  resend(): boolean {
    if (this.#answer !== undefined && !this.#isOnItsWay) void this.#deliver(this.#answer);
    return this.#answer !== undefined;
  }

  /** Gives up what did not get through, because the person changes it. */
  dropUnsent(): void {
    if (!this.isUnsent) return;
    this.#answer = undefined;
    this.isUnsent = this.#isOnItsWay;
    this.#onChange();
  }

  /** Asks the server how it stands. A failure changes nothing but what is known of the connection. */
  async look(): Promise<void> {
    if (this.#server === undefined || this.#id === '') return;
    try {
      this.take(await this.#server.read(this.#id));
      if (this.#isFed) this.#note(false);
    } catch (error) {
      if (!isRefusal(error)) return;
      if (error.code === 'not_found') this.#vanish();
      else if (this.#isFed && isNoReply(error)) this.#note(true);
    }
  }

  async #deliver(answer: Answer): Promise<void> {
    if (this.#server === undefined) {
      throw new Error('An <elicitation-card> needs a `server` to answer');
    }
    this.refusal = undefined;
    this.#action = answer.action;
    this.#isOnItsWay = true;
    this.#onChange();
    try {
      this.take(await this.#server.answer(this.#id, answer));
      this.#answer = undefined;
      this.isUnsent = false;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isOnItsWay = false;
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
    if (error.code === 'not_found') this.#vanish();
    else this.refusal = error;
    if (error.elicitation !== undefined) this.take(error.elicitation);
  }

  #note(isOffline: boolean): void {
    if (this.#isOffline && !isOffline) this.resend();
    this.#isOffline = isOffline;
    this.#onChange();
  }

  #vanish(): void {
    this.#isGone = true;
    this.#onChange();
  }
}

function isNoReply({ status }: Refusal): boolean {
  return status === 0 || status >= 500;
}

/** Known by its shape, because the class belongs to the file of the server object. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'Refusal';
}
