import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { type Elicitation, isOpen, newer } from './elicitation.ts';
import { type Answer, type Connection, type ElicitationServer, Refusal } from './server.ts';
import { createPage } from './server-page.ts';

/** A pause before an answer that could not be sent is sent again, and between two looks at a fed question, in ms. */
const AGAIN_MS = 5_000;

/** Which question, and the way to its server. */
export interface LifeSource {
  readonly elicitationId: string | undefined;
  readonly server: ElicitationServer | undefined;
  /** The page hands over news itself: only look now and then. */
  readonly isFed: boolean;
}

const STATUS_OF = { accept: 'accepted', decline: 'declined', cancel: 'cancelled' } as const;

/** What a card knows of its question: the newest view, what was sent, what came of it. Its host renders each change. */
export class CardLife implements ReactiveController {
  view: Elicitation | undefined;
  connection: Connection = 'connecting';
  isGone = false;
  /** What is on its way to the server. */
  sending: Answer | undefined;
  /** An answer that did not get through; it goes out again by itself. */
  unsent: Answer | undefined;
  /** Why the last answer was not taken, while the question is open. */
  refusal: Refusal | undefined;
  /** This card saw the question open. */
  wasOpen = false;
  /** This card sent what settled it. */
  isHere = false;

  readonly #host: ReactiveControllerHost;
  #source: LifeSource = { elicitationId: undefined, server: undefined, isFed: false };
  #stops: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isConnected = false;

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostConnected(): void {
    this.#isConnected = true;
    this.#start();
  }

  hostDisconnected(): void {
    this.#isConnected = false;
    this.#end();
  }

  /** Turns to another question or server, unless they are the same, and takes what the page knows of it. */
  turnTo(source: LifeSource, news: Elicitation | undefined): void {
    const { elicitationId, server, isFed } = this.#source;
    const isSame =
      elicitationId === source.elicitationId && server === source.server && isFed === source.isFed;
    if (!isSame) {
      this.#end();
      if (elicitationId !== source.elicitationId) this.#forget();
      this.#source = source;
    }
    if (news !== undefined) this.take(news);
    if (!isSame && this.#isConnected) this.#start();
  }

  /** News of the question, from wherever. */
  take(news: Elicitation): void {
    if (news.elicitationId !== this.#source.elicitationId) return;
    if (news.serverTime !== undefined) this.#source.server?.noteTime(news.serverTime);
    const { status } = this.view ?? {};
    this.view = newer(this.view, news);
    this.isGone = false;
    if (isOpen(this.view)) this.wasOpen = true;
    if (this.view.status !== status) this.refusal = undefined;
    if (!isOpen(this.view) && this.unsent !== undefined) {
      // It got through, and only the reply was lost.
      this.isHere ||= STATUS_OF[this.unsent.action] === this.view.status;
      this.unsent = undefined;
    }
    this.#sleep();
    this.#host.requestUpdate();
  }

  /** Sends an answer. One at a time: while one is on its way, another is dropped. */
  send(answer: Answer): void {
    if (this.sending !== undefined) return;
    this.refusal = undefined;
    void this.#deliver({ responseId: newResponseId(), ...answer });
  }

  /** Sends again at once what did not get through. */
  resend(): void {
    if (this.unsent !== undefined && this.sending === undefined) void this.#deliver(this.unsent);
  }

  /** Gives up what did not get through, because the person changes it. */
  dropUnsent(): void {
    if (this.unsent === undefined) return;
    this.unsent = undefined;
    this.#host.requestUpdate();
  }

  /** Asks the server how it stands. A failure changes nothing but what is known of the connection. */
  async look(): Promise<void> {
    const { server, elicitationId, isFed } = this.#source;
    if (server === undefined || elicitationId === undefined) return;
    try {
      this.take(await server.read(elicitationId));
      if (isFed) this.#note('polling');
    } catch (error) {
      if (elicitationId !== this.#source.elicitationId || !(error instanceof Refusal)) return;
      if (error.code === 'not_found') this.#vanish();
      else if (isFed && isNoReply(error)) this.#note('offline');
    }
  }

  async #deliver(answer: Answer): Promise<void> {
    const { server, elicitationId } = this.#source;
    if (server === undefined || elicitationId === undefined) {
      throw new Error('An <elicitation-card> needs its `server` property to send an answer');
    }
    this.sending = answer;
    this.#host.requestUpdate();
    try {
      const news = await server.answer(elicitationId, answer);
      if (this.sending !== answer) return;
      this.sending = undefined;
      this.unsent = undefined;
      this.isHere = true;
      this.take(news);
    } catch (error) {
      if (this.sending !== answer) return;
      this.sending = undefined;
      this.#refused(answer, error);
    }
  }

  #refused(answer: Answer, error: unknown): void {
    this.#host.requestUpdate();
    if (!(error instanceof Refusal)) {
      this.unsent = undefined;
      throw error;
    }
    if (this.view !== undefined && !isOpen(this.view)) {
      this.isHere ||= STATUS_OF[answer.action] === this.view.status;
    } else if (isNoReply(error)) {
      this.unsent = answer;
      this.#sleep();
      return;
    }
    this.unsent = undefined;
    if (error.code === 'not_found') this.#vanish();
    else this.refusal = error;
    if (error.elicitation !== undefined) this.take(error.elicitation);
  }

  #start(): void {
    const { server, elicitationId, isFed } = this.#source;
    if (server === undefined || elicitationId === undefined) return;
    // What is over stays so: the cards of a long history follow nothing.
    if (this.view !== undefined && !isOpen(this.view)) return;
    if (isFed) void this.look();
    else
      this.#stops.push(
        server.follow(
          elicitationId,
          (news) => this.take(news),
          (state) => this.#note(state),
          () => this.#vanish(),
        ),
      );
    this.#stops.push(
      createPage().on((event) => {
        if (event === 'hidden' || event === 'offline') return;
        this.resend();
        if (isFed && (this.view === undefined || isOpen(this.view))) void this.look();
      }),
    );
    this.#sleep();
  }

  #end(): void {
    for (const stop of this.#stops.splice(0)) stop();
    clearTimeout(this.#timer);
  }

  /** Wakes up for what no news will tell: an unsent answer, and a fed question whose page is open elsewhere. */
  #sleep(): void {
    clearTimeout(this.#timer);
    const { isFed } = this.#source;
    const isDue = this.unsent !== undefined || (isFed && this.view?.status === 'opened');
    if (!this.#isConnected || !isDue) return;
    this.#timer = setTimeout(() => {
      if (document.visibilityState === 'visible') {
        this.resend();
        if (isFed) void this.look();
      }
      this.#sleep();
    }, AGAIN_MS);
  }

  #note(state: Connection): void {
    const isBack = this.connection === 'offline' && state !== 'offline';
    this.connection = state;
    if (isBack) this.resend();
    this.#host.requestUpdate();
  }

  #vanish(): void {
    this.isGone = true;
    this.#host.requestUpdate();
  }

  #forget(): void {
    this.view = undefined;
    this.connection = 'connecting';
    this.sending = undefined;
    this.unsent = undefined;
    this.refusal = undefined;
    this.isGone = false;
    this.wasOpen = false;
    this.isHere = false;
  }
}

function isNoReply({ status }: Refusal): boolean {
  return status === 0 || status >= 500;
}

/** 128 random bits. Not `randomUUID`: pages without TLS have none. */
function newResponseId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
