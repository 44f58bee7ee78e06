/**
 * What the parties to agents' turns can notice, one event per thing seen. The conversations of a history have one turn
 * each. What was seen of Redis stands in the order in which Redis did it, and what one connection showed in the order in
 * which it came; else the order says nothing.
 *
 * The vocabulary is written out here on purpose: a checker that borrowed it from the code it judges would inherit that
 * code's mistakes.
 */

type Of = { readonly conversation: string };
type OfRun = Of & { readonly run: string };

/** Redis: a run was begun. */
export type BegunEvent = OfRun & { readonly type: 'begun' };

/** Redis: a run has this owner from now on. */
export type TermEvent = OfRun & { readonly type: 'term'; readonly term: number; readonly owner: string };

/** Redis: a write under a term, and whether it changed anything; `ends` is the status that it ends the run with. */
export type WriteEvent = OfRun & {
  readonly type: 'write';
  readonly term: number;
  readonly accepted: boolean;
  readonly ends?: string | undefined;
};

/** On a pod's way to Redis: that pod means to write under a term. */
export type AttemptEvent = OfRun & { readonly type: 'attempt'; readonly term: number; readonly pod: string };

/** The model: what it says in a step, whether or not all of it arrives. */
export type SaidEvent = Of & { readonly type: 'said'; readonly step: number; readonly text: string };

/** The tool's server: a call has arrived. */
export type CallEvent = Of & {
  readonly type: 'call';
  /** Names the call within its conversation, however often it is made. */
  readonly call: string;
  /** True where a second one would do harm. */
  readonly effect: boolean;
};

/** The person: an answer, and what came back; status 0 when nothing did. */
export type AnswerEvent = Of & {
  readonly type: 'answer';
  readonly elicitationId: string;
  readonly answer: string;
  readonly httpStatus: number;
};

/** A reader: all the text that one connection shows at a moment. */
export type SeenEvent = Of & { readonly type: 'seen'; readonly connection: string; readonly text: string };

/** A reader: a connection has ended; `clean` as a finished turn ends. */
export type ClosedEvent = Of & {
  readonly type: 'closed';
  readonly connection: string;
  readonly clean: boolean;
};

/** Whoever does harm: a signal to a pod; `label` is the point of a run that it was for. */
export type KillEvent = {
  readonly type: 'kill';
  readonly pod: string;
  readonly signal: string;
  readonly label?: string | undefined;
};

/** What is known of a call's outcome: `unknown` is the plain word that it may or may not have had its effect. */
export type CallOutcome = 'returned' | 'failed' | 'unknown';

/** An event of a feed. Only the fields that its name calls for are there. */
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
};

/** One thing that a conversation remembers; `answer` is the person's, in the result of a question. */
export type Remembered =
  | { readonly type: 'heard'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'called'; readonly call: string }
  | {
      readonly type: 'result';
      readonly call: string;
      readonly outcome: CallOutcome;
      readonly output?: unknown;
      readonly answer?: string | undefined;
    };

/** How things stand once all is quiet. */
export type FinalEvent = OfRun & {
  readonly type: 'final';
  readonly status: string;
  readonly feed: readonly FeedEvent[];
  readonly remembered: readonly Remembered[];
  /** What of the run should have left and is still there. */
  readonly left: readonly string[];
};

export type RunEvent =
  | BegunEvent
  | TermEvent
  | WriteEvent
  | AttemptEvent
  | SaidEvent
  | CallEvent
  | AnswerEvent
  | SeenEvent
  | ClosedEvent
  | KillEvent
  | FinalEvent;
