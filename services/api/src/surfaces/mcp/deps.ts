import type { Server } from '@modelcontextprotocol/server';
import type { AnswerMisfit } from '@parley/shared/domain/elicitations/answer-misfit';
import type { ClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { EventBus } from '@parley/shared/ports/elicitations/event-bus';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import type { Turns } from '../../turns/turns.ts';

/** The hosted page of each form, below `baseUrl`, by the elicitation's id. */
export interface AnswerPage {
  readonly baseUrl: string;
  readonly afterMs: number;
}

/** The card of a call in hosts that show pages of servers (MCP Apps). */
export interface CallCard {
  /** The page, in one piece. */
  readonly html: string;
  /** The OAuth clients in whose cards approvals are decided. */
  readonly approveIn: ReadonlySet<string>;
}

export interface McpDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** Sessions of clients, and names of calls. */
  readonly records: OwnerRecords;
  /** Answers that did not fit, whichever pod received them. */
  readonly answerMisfits: EventBus<AnswerMisfit>;
  /** What servers ask of clients, beside their questions to people. */
  readonly clientRequests: ClientRequests;
  /** That the subscriptions of a session changed, on whichever pod. */
  readonly subscriptionChanges: EventBus<'changed'>;
  /** To how many resources a session, or one `subscriptions/listen`, may be subscribed. */
  readonly subscriptionsMax: number;
  /** Version of this service, which clients are informed of. */
  readonly version: string;
  /** The first signs `requestState`, each verifies it. The same on all pods; at least 32 bytes each. */
  readonly stateKeys: readonly Uint8Array[];
  /** How long a session is kept after its last use, in ms. */
  readonly sessionMs: number;
  /** How long a call is found by its request and by its arguments, in ms. */
  readonly callMs: number;
  /** How long one request of revision 2026-07-28 waits for a call, in ms; clients end requests after 60 s. */
  readonly roundMs: number;
  /** Time between two progress notifications of a call that waits, in ms. */
  readonly progressMs: number;
  /** Where the owner of a form can answer it, and how long their client may leave it unanswered before it is named. */
  readonly answerPage?: AnswerPage | undefined;
  /** The hosted page on which a person connects an account or gives a secret, by the elicitation's id. */
  readonly connectBaseUrl?: string | undefined;
  /** How long a repeated call waits for a person who acts in another place, until its client is told again, in ms. */
  readonly againMs: number;
  /** Absent where the page was not built: then no tool has a card. */
  readonly card?: CallCard | undefined;
  readonly onFault: (error: unknown) => void;
  /** Registers further request handlers with the server of each request. */
  readonly extend?: (server: Server) => void;
}
