import type { RunEvent } from './run-events.ts';

/**
 * What a client of a running service can observe of elicitations, one event per call or message.
 *
 * `at` and `startedAt` are milliseconds on the recording client's clock (when a reply was in hand, when its request
 * left). `createdAt`, `expiresAt`, `settledAt` and `serverTime` are milliseconds too, but the server's own stamps.
 * The two clocks are never compared with each other, only durations are.
 *
 * The vocabulary is written out here on purpose: a checker that borrowed it from the code it judges would inherit
 * that code's mistakes.
 */

/** The person an elicitation is for. */
export type Owner = { readonly tenant: string; readonly userId: string };

/** Who called: a person, or a service key (no `userId`). */
export type Caller = {
  readonly tenant: string;
  readonly userId?: string | undefined;
};

/** Statuses after which nothing may change. */
export type TerminalStatus = 'accepted' | 'declined' | 'cancelled' | 'expired' | 'withdrawn';

export type ElicitationStatus = 'pending' | 'opened' | TerminalStatus;

export type Action = 'accept' | 'decline' | 'cancel';

/** The elicitation as one reply or message showed it; `content` absent means "not shown". */
export type Seen = {
  readonly status: ElicitationStatus;
  readonly action?: Action | undefined;
  readonly content?: unknown;
  readonly serverTime?: number | undefined;
};

type Call = { readonly startedAt: number; readonly at: number };

/** A call that changes something. `httpStatus` 0 means no reply: timeout, reset, or a torn body. */
type Command = Call & {
  readonly httpStatus: number;
  readonly code?: string | undefined;
};

/** How the elicitation is completed: the asker's choice, or the reply's `completion` for url mode. */
export type Mode =
  | { readonly mode: 'form' }
  | { readonly mode: 'url'; readonly completion: 'server' | 'client' };

/** `POST /v1/elicitations`; id and stamps as the 201 gave them. */
export type AskEvent = Command &
  Mode & {
    readonly type: 'ask';
    readonly owner: Owner;
    readonly elicitationId?: string | undefined;
    readonly streamRequestId?: string | undefined;
    readonly idempotencyKey?: string | undefined;
    readonly createdAt?: number | undefined;
    readonly expiresAt?: number | undefined;
  };

/** `POST …/response`; `recorded` is the elicitation in the reply, of a 200 and of a 409 or 410 alike. */
export type RespondEvent = Command & {
  readonly type: 'respond';
  readonly elicitationId: string;
  readonly by: Owner;
  readonly responseId?: string | undefined;
  readonly action: Action;
  readonly content?: unknown;
  readonly recorded?: Seen | undefined;
};

/** `POST …/complete`; `by` absent means a service key of the owner's tenant. */
export type CompleteEvent = Command & {
  readonly type: 'complete';
  readonly elicitationId: string;
  readonly by?: Caller | undefined;
  readonly recorded?: Seen | undefined;
};

/** `DELETE …/:id`, or anything else that withdraws the elicitation (a stopped turn, say); `by` as for `complete`. */
export type WithdrawEvent = Command & {
  readonly type: 'withdraw';
  readonly elicitationId: string;
  readonly by?: Caller | undefined;
  readonly recorded?: Seen | undefined;
};

/**
 * One finished wait. `deadlineMs` is how long the caller meant to wait at most, from `startedAt`; `timeoutMs` the
 * time asked of the server, where there was one. `error` is a typed failure, `none` means that the caller gave up
 * without any reply.
 */
export type WaitEvent = Call & {
  readonly type: 'wait';
  readonly elicitationId: string;
  readonly deadlineMs: number;
  readonly timeoutMs?: number | undefined;
  readonly outcome: ElicitationStatus | 'error' | 'none';
  readonly action?: Action | undefined;
  readonly content?: unknown;
  readonly serverTime?: number | undefined;
};

/** One elicitation in a GET or in a list. */
export type ReadEvent = Call &
  Seen & {
    readonly type: 'read';
    readonly elicitationId: string;
    readonly by: Caller;
  };

/** A stream connection was accepted. */
export type ConnectionOpenEvent = {
  readonly type: 'connection-open';
  readonly connectionId: string;
  readonly subscriber: Owner;
  readonly streamRequestId: string;
  readonly lastEventId?: string | undefined;
  readonly at: number;
};

/** A stream connection ended, from whichever side. */
export type ConnectionCloseEvent = {
  readonly type: 'connection-close';
  readonly connectionId: string;
  readonly at: number;
};

/** The server announced a reset of the feed on this connection. */
export type StreamResetEvent = {
  readonly type: 'stream-reset';
  readonly connectionId: string;
  readonly at: number;
};

/** One elicitation event of a stream, in the order in which its connection delivered it. */
export type StreamEvent = {
  readonly type: 'stream-event';
  readonly connectionId: string;
  readonly subscriber: Owner;
  readonly streamRequestId: string;
  /** `<epoch>-<seq>` */
  readonly eventId: string;
  readonly name: string;
  readonly elicitationId: string;
  readonly status: ElicitationStatus;
  /** `userId` in the event's data. */
  readonly ownerUserId: string;
  readonly at: number;
};

/** How an elicitation reads once the load has ended and every deadline has passed. */
export type FinalEvent = {
  readonly type: 'final';
  readonly elicitationId: string;
  readonly status: ElicitationStatus;
  readonly action?: Action | undefined;
  readonly content?: unknown;
  readonly owner: Owner;
  readonly expiresAt: number;
  readonly settledAt?: number | undefined;
  readonly at: number;
};

/** What a process or a Redis holds, before the load and after the clean-up; samples of one `source` are compared. */
export type ResourcesEvent = {
  readonly type: 'resources';
  readonly label: 'before' | 'after';
  readonly source?: string | undefined;
  /** DBSIZE */
  readonly keys?: number | undefined;
  /** PUBSUB CHANNELS (and SHARDCHANNELS) */
  readonly channels?: readonly string[] | undefined;
  /** Heap and buffers that no collection frees. */
  readonly liveBytes?: number | undefined;
  readonly handles?: number | undefined;
  readonly sockets?: number | undefined;
  readonly at: number;
};

/** A fault was injected or healed; for the reader of the report; no rule uses it. */
export type FaultEvent = {
  readonly type: 'fault';
  readonly kind: string;
  readonly at: number;
};

export type CommandEvent = RespondEvent | CompleteEvent | WithdrawEvent;

/** Everything that a history may hold: of elicitations, of agents' runs, and of the machines under them. */
export type HistoryEvent =
  | AskEvent
  | CommandEvent
  | WaitEvent
  | ReadEvent
  | ConnectionOpenEvent
  | ConnectionCloseEvent
  | StreamResetEvent
  | StreamEvent
  | FinalEvent
  | ResourcesEvent
  | FaultEvent
  | RunEvent;

export type EventOfType<T extends HistoryEvent['type']> = Extract<HistoryEvent, { readonly type: T }>;

/** The events of some types, in their order. */
export function ofType<T extends HistoryEvent['type']>(
  events: readonly HistoryEvent[],
  ...types: readonly T[]
): EventOfType<T>[] {
  return events.filter((event): event is EventOfType<T> => (types as readonly string[]).includes(event.type));
}
