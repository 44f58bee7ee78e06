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
  /** The pod that will write it, or `UNOWNED` where any pod may claim it. */
  readonly owner: string;
  /** For a delegate's run: the call that delegated. */
  readonly parent?: ParentCall;
  readonly delegateRequest?: DelegateRequest;
  readonly support: Support;
  /** `hold` when absent. */
  readonly delivery?: Delivery;
  /** The parent of the turn's spans (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /**
   * Present for a run whose conversation is in no list and counts for its bytes only, not as a conversation; it goes with
   * its last run. All runs of a conversation have it, or none has.
   */
  readonly unlisted?: true;
  /** The title of the conversation, if it has none yet. */
  readonly title?: string;
  readonly input: readonly Message[];
  /** Earlier messages that the client sent. They become part of the input if Parley does not know the conversation. */
  readonly before?: readonly Message[];
  /** Present for a run that is requested under an idempotency key: its stream request may exist already. */
  readonly request?: RunRequest;
  /** The first event of the feed. */
  readonly event: TurnEvent & { readonly type: 'turn-started' };
}

/** One entry of a run's record, identified by its index or id. Writing it again replaces it. */
export type RunNote =
  | {
      readonly type: 'step';
      readonly index: number;
      readonly step: StepRecord;
      /** True where the tokens of the step were counted with an earlier note. */
      readonly isCounted?: true;
    }
  | {
      readonly type: 'call';
      readonly call: CallRecord;
      /** Tokens that a model has taken for the call since the note before. */
      readonly taken?: number;
    }
  | { readonly type: 'pause'; readonly pause: PauseRecord };

/** The tokens of models that these notes count, each once, estimated where a model reports none. */
export function tokensOf(notes: readonly RunNote[]): number {
  return notes.reduce((sum, note) => sum + tokensOfNote(note), 0);
}

function tokensOfNote(note: RunNote): number {
  if (note.type === 'call') return note.taken ?? 0;
  return note.type === 'step' && note.isCounted !== true ? tokensOfStep(note.step) : 0;
}

/** The tokens that one reply of a model took. */
export function tokensOfStep({ inputTokens, outputTokens, estimatedTokens }: StepRecord): number {
  if (inputTokens === undefined && outputTokens === undefined) return estimatedTokens ?? 0;
  return (inputTokens ?? 0) + (outputTokens ?? 0);
}

export interface RunWrite {
  readonly term: number;
  /**
   * Ordinal of the write under its term, from 1. A write that arrives after a later one changes nothing: a broken
   * connection may still deliver a copy of a write that was sent again over the next one. Absent where a term has only
   * one write.
   */
  readonly number?: number;
  /**
   * Number of the first event. Each further event has the next number. Events that the run already has are skipped; where
   * it lacks earlier ones, the write is `behind`.
   */
  readonly firstSeq: number;
  readonly events: readonly TurnEvent[];
  readonly notes?: readonly RunNote[];
  /** Ends the run: frees its conversation, whose history gains `messages`. */
  readonly end?: { readonly status: EndStatus; readonly messages: readonly Message[] };
  /**
   * Detaches the run until one of these ends; the outbox then has it resumed. `questions` are open elicitations of the
   * same person, `runs` are stream requests of delegates' runs that are detached themselves. It is resumed after `afterMs` in
   * any case, where given. Not together with `end`.
   */
  readonly detach?: {
    readonly questions: readonly string[];
    readonly runs: readonly string[];
    readonly afterMs?: number;
  };
}

/** Text for those who follow a run now. */
export interface RunText extends LiveText {
  readonly term: number;
  /** Number of the run's last event, which the text follows. */
  readonly writerSeq: number;
}

/** A running turn, which a pod owns or which is queued, and its current term. */
export interface RunTerm {
  readonly stream: StreamRef;
  readonly term: number;
}

/**
 * The records of turns, each written by one owner at a time. Every call is one atomic step; what it does in which state
 * is the table of `domain/runs/transition.ts`. All calls throw `unavailable`.
 */
export interface Runs {
  /**
   * Begins a turn, unless it exists already, another one runs in its conversation, or a quota of its person is used up.
   * Quotas apply to turns of people: a delegate's run is counted and never refused, a turn without a person is neither.
   * Throws `user_erased`.
   */
  begin(run: NewRun): Promise<BeginResult>;
  /** The run and the clock; no run when there is none, or its retention ended. */
  read(stream: StreamRef): Promise<{ readonly run: Run | undefined; readonly now: number }>;
  /** The run, and the first events of its feed, at most `eventsMax`: one read, at one moment. */
  readWithFeed(
    stream: StreamRef,
    eventsMax: number,
  ): Promise<{ readonly run: Run | undefined; readonly feed: FeedBeginning }>;
  /**
   * The run's state and owner; undefined when there is none, or its retention ended. A fraction of the cost of `read`.
   */
  standing(stream: StreamRef): Promise<RunStanding | undefined>;
  /**
   * The heads of runs of any owners, in the order of `streams`; undefined for one that is not stored. A fraction of the cost
   * of as many `read`s.
   */
  heads(streams: readonly StreamRef[]): Promise<readonly (RunHead | undefined)[]>;
  /**
   * The stream requests of turns that are stored of a person, those of their delegates among them: at most `limit`, those
   * that stay longest first, which are the running ones and then those that ended last. Turns without a person are left out.
   */
  listOf(owner: Owner, limit: number): Promise<readonly string[]>;
  /**
   * Keeps the notes, appends the events to the feed and wakes its readers, all or nothing. An empty write changes
   * nothing and returns the run's state.
   */
  write(run: RunRef, write: RunWrite): Promise<WriteResult>;
  /**
   * Publishes text that the next event of the run will begin with. Nothing is kept, and nothing is published unless the
   * run's last event is the one that the text follows. The result is that of an empty write.
   */
  publish(run: RunRef, text: RunText): Promise<Exclude<WriteResult, 'wait-ended' | 'full' | 'behind'>>;
  /** Requests a running turn to stop; its owner learns of it from its next write. False when it does not run. */
  stop(stream: StreamRef): Promise<boolean>;
  /** All running turns of these owners, with their terms: one pass over the index of running turns. */
  ownedBy(owners: ReadonlySet<string>): AsyncIterable<RunTerm>;
  /**
   * Makes `owner` the owner of a running turn, if `term` is still current: a pod claims it, `UNOWNED` leaves it to be
   * claimed. Returns the new term, or undefined where nothing changed. The same call again returns the same term.
   */
  takeOver(stream: StreamRef, term: number, owner: string): Promise<number | undefined>;
}
