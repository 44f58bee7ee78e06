import type { ApprovalChoice, RememberedApproval } from '@parley/core';
import type { Approval } from '../approval.ts';
import type { Elicitation } from '../elicitation.ts';
import type { PageLifecycle } from './page.ts';

export interface ElicitationServerOptions {
  /** The URL of Parley, including its path if it has one. '' is the page's own origin. @default '' */
  readonly baseUrl?: string;
  /** Returns the user's token. Called for each request, and once more after a 401. */
  getToken(): string | Promise<string>;
  /** @default the page's `fetch` */
  readonly fetch?: typeof fetch;
  /** Polling interval, in ms, while the event stream is not live. @default 4000 */
  readonly pollMs?: number;
  /** How long a page may be hidden, in ms, before its event stream is closed. @default 10000 */
  readonly hiddenMs?: number;
  /** The first and the longest delay, in ms, before a failed call or a lost stream is retried. @default 500, 15000 */
  readonly retryMs?: readonly [first: number, longest: number];
  /** Reports when the page is shown, hidden, online or offline. @default the events of document and window */
  readonly page?: PageLifecycle;
}

/** What a person does with a question. `content` belongs to an accepted form. */
export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  /** Makes it safe to send the answer again; created when absent. */
  readonly responseId?: string;
}

/**
 * How updates come: `live` by the event stream, `polling` every few seconds, `offline` when both fail, and `connecting` until
 * one of these is known.
 */
export type Connection = 'connecting' | 'live' | 'polling' | 'offline';

/** The part of a page's connection to Parley that approvals of tool calls use. */
export interface ApprovalServer {
  /** The time on the server's clock, in ms since 1970. */
  now(): number;
  /** Adjusts the clock by a `serverTime` from another source, such as a chat stream. */
  noteTime(serverTime: string): void;
  /** Reads an approval. Rejects with a Refusal; with `not_found` if it does not exist or belongs to another person. */
  readApproval(approvalId: string): Promise<Approval>;
  /** Decides on a call. Sending the same decision again is safe. Rejects with a Refusal. */
  decide(approvalId: string, choice: ApprovalChoice): Promise<Approval>;
  /** Follows one approval until it is settled or the returned function is called; see `follow`. */
  followApproval(
    approvalId: string,
    listener: (approval: Approval) => void,
    onConnection?: (state: Connection) => void,
    onGone?: () => void,
  ): () => void;
  /** Follows this person's pending approvals. The listener gets the whole list on every change, newest first. */
  followApprovals(
    listener: (pending: readonly Approval[]) => void,
    onConnection?: (state: Connection) => void,
  ): () => void;
  /** Reads this person's remembered approvals. Rejects with a Refusal. */
  listRemembered(): Promise<readonly RememberedApproval[]>;
  /** Revokes a remembered approval. Rejects with a Refusal. */
  revokeRemembered(grantId: string): Promise<void>;
}

/** The part of a connection that an `<approval-card>` uses. */
export type ApprovalCardServer = Pick<
  ApprovalServer,
  'now' | 'noteTime' | 'readApproval' | 'decide' | 'followApproval'
>;

/** The part of a connection that an `<elicitation-card>` uses. */
export type CardServer = Pick<ElicitationServer, 'now' | 'noteTime' | 'read' | 'answer' | 'follow'>;

/** A page's connection to Parley. One event stream serves all its cards and inboxes. */
export interface ElicitationServer extends ApprovalServer {
  /** Reads an elicitation. Rejects with a Refusal; with `not_found` if it does not exist or belongs to another person. */
  read(elicitationId: string): Promise<Elicitation>;
  /** Sends an answer. All retries of one call carry the same `responseId`. Rejects with a Refusal. */
  answer(elicitationId: string, answer: Answer): Promise<Elicitation>;
  /**
   * Follows one elicitation until it is settled or the returned function is called. The listener gets its present view and then
   * every change; its status never goes back. `onGone` is called if the server does not know it.
   */
  follow(
    elicitationId: string,
    listener: (elicitation: Elicitation) => void,
    onConnection?: (state: Connection) => void,
    onGone?: () => void,
  ): () => void;
  /** Follows this person's open elicitations. The listener gets the whole list on every change, newest first. */
  followInbox(
    listener: (open: readonly Elicitation[]) => void,
    onConnection?: (state: Connection) => void,
  ): () => void;
  /** Closes the connection and removes all listeners. */
  close(): void;
}
