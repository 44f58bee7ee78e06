import type { Server } from '@modelcontextprotocol/server';
import type { AnswerMisfit } from '@parley/shared/domain/elicitations/answer-misfit';
import type { ClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { EventBus } from '@parley/shared/ports/elicitations/event-bus';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import type { Turns } from '../../turns/turns.ts';

/** The hosted page of each form: `baseUrl` followed by the elicitation's id. */
export interface AnswerPage {
  readonly baseUrl: string;
  readonly afterMs: number;
}

/** The card of a call, in hosts that show servers' pages (MCP Apps). */
export interface CallCard {
  /** The page as one document. */
  readonly html: string;
  /** The OAuth clients whose cards may decide approvals. */
  readonly approveIn: ReadonlySet<string>;
}

export interface McpDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** Records of sessions and of names of calls. */
  readonly records: OwnerRecords;
  /** Reports of answers that did not fit, from any pod. */
  readonly answerMisfits: EventBus<AnswerMisfit>;
  /** The requests of servers to clients, other than questions to people. */
  readonly clientRequests: ClientRequests;
  /** Reports from any pod that the subscriptions of a session changed. */
  readonly subscriptionChanges: EventBus<'changed'>;
  /** The maximum number of subscribed resources of a session, or of one `subscriptions/listen`. */
  readonly subscriptionsMax: number;
  /** Version of this service, which clients are told. */
  readonly version: string;
  /** The keys for `requestState`. The first key signs, and each verifies. The same on all pods; at least 32 bytes each. */
  readonly stateKeys: readonly Uint8Array[];
  /** How long a session is stored after its last use, in ms. */
  readonly sessionMs: number;
  /** How long a call can be found by its request and by its arguments, in ms. */
  readonly callMs: number;
  /** How long a request of revision 2026-07-28 waits for a call, in ms. Clients end requests after 60 s. */
  readonly roundMs: number;
  /** Time between two progress notifications of a waiting call, in ms. */
  readonly progressMs: number;
  /** The page where a form's owner can answer it, and how long the client may leave it unanswered before the page is named. */
  readonly answerPage?: AnswerPage | undefined;
  /** The hosted page on which a person connects an account or enters a secret: this URL followed by the elicitation's id. */
  readonly connectBaseUrl?: string | undefined;
  /** How long a repeated call waits for a person who acts elsewhere, before its client is told again, in ms. */
  readonly againMs: number;
  /** Absent if the page was not built. Then no tool has a card. */
  readonly card?: CallCard | undefined;
  readonly onFault: (error: unknown) => void;
  /** Registers additional request handlers with the server of each request. */
  readonly extend?: (server: Server) => void;
}
