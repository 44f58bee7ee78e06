import type { StreamRef } from '../../domain/ids.ts';
import type {
  Asked,
  CallRecord,
  DelegateRequest,
  Delivery,
  Message,
  ParentCall,
  PauseRecord,
  Run,
  RunRef,
  RunStanding,
  RunStatus,
  StepRecord,
  Support,
} from '../../domain/runs/run.ts';
import type { TurnEvent } from '../../domain/runs/turn-events.ts';

/** What a turn begins with. */
export interface NewRun extends RunRef {
  readonly agent: string;
  /** The pod that will write it. */
  readonly owner: string;
  /** The call of another run that it is for. */
  readonly parent?: ParentCall;
  readonly delegateRequest?: DelegateRequest;
  readonly support: Support;
  /** `hold` when absent. */
  readonly delivery?: Delivery;
  readonly input: readonly Message[];
  /** What its client tells of the time before; part of the input where Parley does not know the conversation. */
  readonly before?: readonly Message[];
  /** Of a run that is asked for under a key: its stream request may be known already. */
  readonly asked?: Asked;
  /** Told in the feed as its first event. */
  readonly event: TurnEvent & { readonly type: 'turn-started' };
}

export type BeginResult =
  /** Also when this very call, which is still the owner's, had begun it before: a repeated call is harmless. */
  | { readonly type: 'begun'; readonly term: number; readonly writerSeq: number }
  /**
   * The run is there, whoever has it and however it stands: an earlier call asked for the same (`asked`), or an earlier
   * sending of this one began it and it was taken over or ended since.
   */
  | { readonly type: 'known'; readonly conversationId: string }
  /** An earlier call asked for something else under the same stream request. */
  | { readonly type: 'mismatch' }
  /** Another turn of this conversation runs; who owns it, for whoever wants to know whether that pod still lives. */
  | {
      readonly type: 'running';
      readonly streamRequestId: string;
      readonly owner: string;
      readonly term: number;
    };

/** Something worth keeping of a run, written under a name of its own; writing it again replaces it. */
export type RunNote =
  | { readonly type: 'step'; readonly index: number; readonly step: StepRecord }
  | { readonly type: 'call'; readonly call: CallRecord }
  | { readonly type: 'pause'; readonly pause: PauseRecord };

export interface RunWrite {
  readonly term: number;
  /**
   * The how-manieth write under this term it is, from 1: what arrives after a later one changes nothing. A link that
   * broke may still deliver what was sent again over the next one. Absent where a term sees one write only.
   */
  readonly number?: number;
  /** Number of the first of `events`; each event has the next one. What the run already has is left out. */
  readonly firstSeq: number;
  readonly events: readonly TurnEvent[];
  readonly notes?: readonly RunNote[];
  /** Ends the run: frees its conversation, whose history gains `messages`. */
  readonly end?: { readonly status: Exclude<RunStatus, 'running'>; readonly messages: readonly Message[] };
  /**
   * Lets go of the run until one of these ends: then the outbox has it woken. They are open questions of the same
   * person, and runs that are detached themselves.
   */
  readonly detach?: { readonly questions: readonly string[]; readonly runs: readonly string[] };
}

export type WriteResult =
  /** Written now, or by an earlier call of the same write. */
  | 'written'
  /** Written; and somebody asked the run to stop. */
  | 'stopping'
  /** Another owner has taken the run over, or it has ended: whoever wrote must stop. Nothing was written. */
  | 'fenced'
  /** The feed may not grow further. Nothing was written; only an end is still taken. */
  | 'full'
  /** Not detached: something that it would wait for has ended already, or it was asked to stop. Nothing was written. */
  | 'wait-ended'
  /** There is no such run. */
  | 'gone';

/** A running turn under its current term. */
export interface OwnedRun {
  readonly stream: StreamRef;
  readonly term: number;
}

/** The records of turns, each written by one owner at a time. Every call is one atomic step. */
export interface Runs {
  /** Begins a turn, unless it is known already or another one runs in its conversation. */
  begin(run: NewRun): Promise<BeginResult>;
  /** The run and the clock; no run when there is none, or its retention ended. */
  read(stream: StreamRef): Promise<{ readonly run: Run | undefined; readonly now: number }>;
  /** How the run stands; nothing when there is none, or its retention ended. A fraction of the cost of `read`. */
  standing(stream: StreamRef): Promise<RunStanding | undefined>;
  /** Keeps the notes, appends the events to the feed and wakes its readers, all or nothing. An empty write only asks how it stands. */
  write(run: RunRef, write: RunWrite): Promise<WriteResult>;
  /** Asks a running turn to stop; its owner hears it with its next write. False when it does not run. */
  stop(stream: StreamRef): Promise<boolean>;
  /** All running turns of these owners, with their terms: one pass over the index of running turns. */
  ownedBy(owners: ReadonlySet<string>): AsyncIterable<OwnedRun>;
  /** Makes `owner` the owner of a running turn, if `term` is still current. The new term, or nothing. */
  takeOver(stream: StreamRef, term: number, owner: string): Promise<number | undefined>;
}
