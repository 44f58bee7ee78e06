/**
 * The port that stores the runs of turns, each written by one owner at a time under a fencing token. The decisions are in
 * `domain/runs/transition.ts`; histories are in `conversations.ts`.
 */

import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { LiveText } from '../../domain/elicitations/wake.ts';
import type { BeginResult, WriteResult } from '../../domain/runs/commands.ts';
import type {
  CallRecord,
  DelegateRequest,
  Delivery,
  EndStatus,
  Message,
  ParentCall,
  PauseRecord,
  Run,
  RunHead,
  RunRef,
  RunRequest,
  RunStanding,
  StepRecord,
  Support,
} from '../../domain/runs/run.ts';
import type { TurnEvent } from '../../domain/runs/turn-events.ts';
import type { FeedBeginning } from '../elicitations/feed.ts';

export type { BeginResult, WriteResult };

/** The data with which a turn begins. */
export interface NewRun extends RunRef {
  readonly agent: string;
  /** The pod that will write the run, or `UNOWNED` if any pod may claim it. */
  readonly owner: string;
  /** The delegating call; present for a delegate's run. */
  readonly parent?: ParentCall;
  readonly delegateRequest?: DelegateRequest;
  readonly support: Support;
  /** `hold` when absent. */
  readonly delivery?: Delivery;
  /** The parent of the turn's spans (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /**
   * Present for a run whose conversation is in no list. Only the bytes of such a conversation count for quotas, and it is
   * removed with its last run. Either all runs of a conversation have this flag, or none.
   */
  readonly unlisted?: true;
  /** The title for a conversation that has none yet. */
  readonly title?: string;
  readonly input: readonly Message[];
  /** Earlier messages that the client sent. If Parley does not know the conversation, they become part of the input. */
  readonly before?: readonly Message[];
  /** Present for a run that is requested under an idempotency key. Its stream request may already exist. */
  readonly request?: RunRequest;
  /** The first event of the feed. */
  readonly event: TurnEvent & { readonly type: 'turn-started' };
}

/** One entry of a run's record, identified by its index or id. Writing an entry again replaces it. */
export type RunNote =
  | {
      readonly type: 'step';
      readonly index: number;
      readonly step: StepRecord;
      /** True when an earlier note already counted the tokens of the step. */
      readonly isCounted?: true;
    }
  | {
      readonly type: 'call';
      readonly call: CallRecord;
      /** The model tokens used for the call since the previous note. */
      readonly taken?: number;
    }
  | { readonly type: 'pause'; readonly pause: PauseRecord };

/** The model tokens that these notes add, each counted once; estimated when the model reports none. */
export function tokensOf(notes: readonly RunNote[]): number {
  return notes.reduce((sum, note) => sum + tokensOfNote(note), 0);
}

function tokensOfNote(note: RunNote): number {
  if (note.type === 'call') return note.taken ?? 0;
  return note.type === 'step' && note.isCounted !== true ? tokensOfStep(note.step) : 0;
}

/** The tokens of one model reply. */
export function tokensOfStep({ inputTokens, outputTokens, estimatedTokens }: StepRecord): number {
  if (inputTokens === undefined && outputTokens === undefined) return estimatedTokens ?? 0;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

export interface RunWrite {
  readonly term: number;
  /**
   * The ordinal of the write under its term, from 1. A write that comes after a later one changes nothing, because a broken
   * connection may deliver an old copy of a write that was repeated on another connection. Absent when a term has only one
   * write.
   */
  readonly number?: number;
  /**
   * The sequence number of the first event; further events follow without gaps. Events that the run already has are skipped. If
   * earlier events are missing, the result is `behind`.
   */
  readonly firstSeq: number;
  readonly events: readonly TurnEvent[];
  readonly notes?: readonly RunNote[];
  /** Ends the run, frees its conversation, and adds `messages` to the conversation's history. */
  readonly end?: { readonly status: EndStatus; readonly messages: readonly Message[] };
  /**
   * Detaches the run until one of these ends; the outbox then resumes it. `questions` are open elicitations of the same person,
   * and `runs` are stream requests of detached delegates' runs. With `afterMs`, it is resumed after that time at the latest.
   * Not allowed together with `end`.
   */
  readonly detach?: {
    readonly questions: readonly string[];
    readonly runs: readonly string[];
    readonly afterMs?: number;
  };
}

/** Text for those who follow a run live. */
export interface RunText extends LiveText {
  readonly term: number;
  /** The number of the run's last event, which precedes the text. */
  readonly writerSeq: number;
}

/** A running turn that is owned or queued, and its current term. */
export interface RunTerm {
  readonly stream: StreamRef;
  readonly term: number;
}

/**
 * The records of turns, each written by one owner at a time. Every call is one atomic step, whose result is decided by the
 * table of `domain/runs/transition.ts`. Every method throws `unavailable`.
 */
export interface Runs {
  /**
   * Begins a turn, unless it already exists, another turn of its conversation is running, or a quota of its person is used up.
   * Quotas apply to turns of people. A delegate's run is counted but never refused; a turn without a person is neither counted
   * nor refused. Throws `user_erased`.
   */
  begin(run: NewRun): Promise<BeginResult>;
  /** The run and the clock. The run is undefined when it does not exist, or its retention ended. */
  read(stream: StreamRef): Promise<{ readonly run: Run | undefined; readonly now: number }>;
  /** The run, and at most `eventsMax` first events of its feed, read at one moment. */
  readWithFeed(
    stream: StreamRef,
    eventsMax: number,
  ): Promise<{ readonly run: Run | undefined; readonly feed: FeedBeginning }>;
  /**
   * The run's state and owner, at a fraction of the cost of `read`. Undefined when it does not exist, or its retention ended.
   */
  standing(stream: StreamRef): Promise<RunStanding | undefined>;
  /**
   * The heads of runs of any owners, in the order of `streams`, at a fraction of the cost of `read`. Undefined for a run that
   * is not stored.
   */
  heads(streams: readonly StreamRef[]): Promise<readonly (RunHead | undefined)[]>;
  /**
   * The stream requests of a person's stored turns and of their delegates: at most `limit`. Those that will be kept longest
   * come first: the running ones, and then those that ended last. Turns without a person are omitted.
   */
  listOf(owner: Owner, limit: number): Promise<readonly string[]>;
  /**
   * Atomically stores the notes, appends the events to the feed and wakes its readers. An empty write changes nothing and
   * returns the state of the run.
   */
  write(run: RunRef, write: RunWrite): Promise<WriteResult>;
  /**
   * Publishes text with which the next event of the run will begin. The text is not stored. It is published only if the run's
   * last event is the one that precedes it. The result is that of an empty write.
   */
  publish(run: RunRef, text: RunText): Promise<Exclude<WriteResult, 'wait-ended' | 'full' | 'behind'>>;
  /**
   * Requests that a running turn stop. Its owner learns of the request from its next write. False when the turn is not running.
   */
  stop(stream: StreamRef): Promise<boolean>;
  /** All running turns of these owners, with their terms: one pass over the index of running turns. */
  ownedBy(owners: ReadonlySet<string>): AsyncIterable<RunTerm>;
  /**
   * Makes `owner` the owner of a running turn if `term` is still current: a pod claims the turn, and `UNOWNED` releases it.
   * Returns the new term, or undefined when nothing changed. The same call again returns the same term.
   */
  takeOver(stream: StreamRef, term: number, owner: string): Promise<number | undefined>;
}
