import type { Elicitation } from '../elicitation.ts';
import type { Page } from './page.ts';

export interface ElicitationServerOptions {
  /** Where Parley answers: an origin with an optional path; '' is the page's own origin. @default '' */
  readonly baseUrl?: string;
  /** A token of the user; asked for each request, and once more after a 401. */
  getToken(): string | Promise<string>;
  /** @default the page's fetch */
  readonly fetch?: typeof fetch;
  /** Pause between two looks, in ms, while events are not live. @default 4000 */
  readonly pollMs?: number;
  /** How long a page may be hidden, in ms, before its event stream is closed. @default 10000 */
  readonly hiddenMs?: number;
  /** First and longest pause, in ms, before a failed call or a lost stream is tried again. @default 500, 15000 */
  readonly retryMs?: readonly [first: number, longest: number];
  /** Tells when the page is shown, hidden, online or offline. @default the document's and the window's events */
  readonly page?: Page;
}

/** What a person does with a question. `content` goes with accepting a form only. */
export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  /** Makes sending it again harmless; minted when absent. */
  readonly responseId?: string;
}

/**
 * How news come in: `live` by push, `polling` by looking every few seconds, `offline` when not even that works.
 * It is `connecting` until the first of them is known.
 */
export type Connection = 'connecting' | 'live' | 'polling' | 'offline';

/** The way to Parley for the cards and inboxes of a page: one event stream serves them all. */
export interface ElicitationServer {
  /** Now on the server's clock, in ms since 1970. */
  now(): number;
  /** Tells the clock of an elicitation's `serverTime` that came another way, such as a chat stream. */
  noteTime(serverTime: string): void;
  /** Reads an elicitation. Rejects with a Refusal (`not_found`) when it is not this person's, or gone. */
  read(elicitationId: string): Promise<Elicitation>;
  /** Answers; one responseId through all retries of one call. Rejects with a Refusal. */
  answer(elicitationId: string, answer: Answer): Promise<Elicitation>;
  /**
   * Follows one elicitation until it is settled or the returned function is called: what it is now, then every
   * change, never back to an earlier status. `onGone` is called when the server does not know it.
   */
  follow(
    elicitationId: string,
    listener: (news: Elicitation) => void,
    onConnection?: (state: Connection) => void,
    onGone?: () => void,
  ): () => void;
  /** Follows all that waits for this person, newest first: the whole list on every change. */
  followInbox(
    listener: (open: readonly Elicitation[]) => void,
    onConnection?: (state: Connection) => void,
  ): () => void;
  /** Ends everything; nothing is told any more. */
  close(): void;
}
