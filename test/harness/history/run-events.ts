/**
 * What the parties to agents' turns can observe, one event per observation. Each conversation has one run. Events of
 * Redis stand in the order in which Redis did them, and those of one connection in the order in which they came; the
 * order of the others carries no information.
 */
type InConversation = { readonly conversation: string };
type InRun = InConversation & { readonly run: string };

/** Redis: a run was begun. */
export type BegunEvent = InRun & { readonly type: 'begun' };

/** Redis: a run has this owner from now on. */
export type TermEvent = InRun & { readonly type: 'term'; readonly term: number; readonly owner: string };

/** Redis: a write under a term, and whether it changed anything; `ends` is the status that it ends the run with. */
export type WriteEvent = InRun & {
  readonly type: 'write';
  readonly term: number;
  readonly accepted: boolean;
  readonly ends?: string | undefined;
};

/** Between a pod and Redis: the pod sends a write under a term. */
export type AttemptEvent = InRun & { readonly type: 'attempt'; readonly term: number; readonly pod: string };

/** The model: the text that it writes in a step, whether or not all of it arrives. */
export type SaidEvent = InConversation & {
  readonly type: 'said';
  readonly step: number;
  readonly text: string;
};

/** The tool's server: a call has arrived. */
export type CallEvent = InConversation & {
  readonly type: 'call';
  /** Names the call within its conversation, however often it is made. */
  readonly call: string;
  /** True where a second one would do harm. */
  readonly effect: boolean;
  /** The argument that a person may edit, for calls that need an approval. */
  readonly amount?: number | undefined;
};

/**
 * The person: a decision on a call that needs an approval, first when it is about to be sent, then with each reply; status
 * 0 when nothing came back. It stands before all that it leads to.
 */
export type DecisionEvent = InConversation & {
  readonly type: 'decision';
  readonly call: string;
  readonly choice: 'approve' | 'edit' | 'deny';
  /** The amount with which the call may be made. */
  readonly amount: number;
  readonly reply?: number | undefined;
};

/** The person: an answer, and what came back; status 0 when nothing did. */
export type AnswerEvent = InConversation & {
  readonly type: 'answer';
  readonly elicitationId: string;
  readonly answer: string;
  readonly httpStatus: number;
};

/** A reader: all the text that one connection shows at a moment. */
export type SeenEvent = InConversation & {
  readonly type: 'seen';
  readonly connection: string;
  readonly text: string;
};

/** A reader: a connection has ended; `clean` as a finished turn ends. */
export type ClosedEvent = InConversation & {
  readonly type: 'closed';
  readonly connection: string;
  readonly clean: boolean;
};

/** The test: a signal to a pod; `label` names the point of a run at which it was sent. */
export type KillEvent = {
  readonly type: 'kill';
  readonly pod: string;
  readonly signal: string;
  readonly label?: string | undefined;
};

/** What is known of a call's outcome; `unknown`: it may or may not have had its effect. */
export type CallOutcome = 'returned' | 'failed' | 'unknown';

/** An event of a feed. Has only the fields that its name calls for. */
export type FeedEvent = {
  /** `<epoch>-<seq>`. */
  readonly id: string;
  readonly name: string;
  readonly step?: number | undefined;
  readonly text?: string | undefined;
  readonly call?: string | undefined;
  readonly outcome?: CallOutcome | undefined;
  readonly output?: unknown;
  readonly elicitationId?: string | undefined;
  readonly approvalId?: string | undefined;
};

/** One entry of a conversation's stored messages; `answer` is the person's, in the result of a question. */
export type StoredMessage =
  | { readonly type: 'message'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'called'; readonly call: string }
  | {
      readonly type: 'result';
      readonly call: string;
      readonly outcome: CallOutcome;
      readonly output?: unknown;
      readonly answer?: string | undefined;
    };

/** How a run stands once nothing changes any more. */
export type RunFinalEvent = InRun & {
  readonly type: 'run-final';
  readonly status: string;
  readonly feed: readonly FeedEvent[];
  readonly stored: readonly StoredMessage[];
  /** Indexes, queues and inboxes that still hold the run and must not. */
  readonly remaining: readonly string[];
};

export type RunEvent =
  | BegunEvent
  | TermEvent
  | WriteEvent
  | AttemptEvent
  | SaidEvent
  | CallEvent
  | DecisionEvent
  | AnswerEvent
  | SeenEvent
  | ClosedEvent
  | KillEvent
  | RunFinalEvent;
