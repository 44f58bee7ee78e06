import type { EndStatus, ParentCall, RunRequest, RunStanding } from './run.ts';

/** The part of a run's record that decides what a command does. */
export interface RunControl extends RunStanding {
  /** Number of the last event that the run's owners appended to the feed. */
  readonly writerSeq: number;
  /** Bytes of all those events, as JSON. */
  readonly bytes: number;
  /** Number of the last numbered write; 0 where the present owner has made none. */
  readonly writes: number;
  readonly stopRequested: boolean;
  /** True from the first time that the run was detached. */
  readonly wasDetached: boolean;
  readonly request?: RunRequest;
}

/** The turn that runs in a conversation. */
export interface RunningTurn {
  readonly streamRequestId: string;
  readonly owner: string;
  readonly term: number;
}

interface Begin {
  /** A pod, or `UNOWNED`. */
  readonly owner: string;
  readonly conversationId: string;
  readonly parent?: ParentCall;
  readonly request?: RunRequest;
  /** Bytes of the first event. */
  readonly eventBytes: readonly [number];
  /** Another turn that runs in the same conversation. */
  readonly running?: RunningTurn;
}

/** What all writes of an owner have in common. */
export interface OwnerWrite {
  readonly term: number;
  /** Ordinal of the write under its term, from 1; absent where a term has one write only. */
  readonly number?: number;
  /** Number of the first event. */
  readonly firstSeq: number;
  /** Bytes of each event. */
  readonly eventBytes: readonly number[];
  readonly noteCount: number;
}

interface Write extends OwnerWrite {
  /** Bytes that the events of a run may have together. */
  readonly bytesMax: number;
}

interface Detach extends OwnerWrite {
  /** True when a question or a delegate's run that it would wait for has ended. */
  readonly waitEnded: boolean;
}

interface End extends OwnerWrite {
  readonly status: EndStatus;
}

/** The term that the caller believes to be current. */
interface Release {
  readonly term: number;
}

interface Claim extends Release {
  /** The pod that claims the run. */
  readonly owner: string;
}

/** What can be done to a run, with the facts that a back end reads in the same atomic step. */
export interface RunCommands {
  readonly begin: Begin;
  /** Appends events and keeps notes. */
  readonly write: Write;
  /** Gives the run up until a question or a delegate's run ends; a write as well. */
  readonly detach: Detach;
  /** A write as well, and the last one. */
  readonly end: End;
  /** Requests a stop; the owner learns of it from its next write. */
  readonly stop: object;
  /** Makes a pod the owner. */
  readonly claim: Claim;
  /** Leaves the run without an owner, for any pod to claim: a hand-over by its owner, or the end of a wait. */
  readonly release: Release;
}
export type RunCommandType = keyof RunCommands;
export type RunCommand<Type extends RunCommandType = RunCommandType> = {
  readonly type: Type;
} & RunCommands[Type];

export type BeginResult =
  /** Also for a repetition of this very call, as long as its owner still owns the run. */
  | { readonly type: 'begun'; readonly term: number; readonly writerSeq: number }
  /** The run exists, in whatever state: begun by an earlier call of the same request, or by this one. */
  | { readonly type: 'known'; readonly conversationId: string }
  /** The run exists, and was begun by another request. */
  | { readonly type: 'mismatch' }
  /** Another turn of this conversation runs. */
  | ({ readonly type: 'running' } & RunningTurn);

export type WriteResult =
  /** Written now, or by an earlier call of the same write. */
  | 'written'
  /** Written, and a stop was requested. */
  | 'stopping'
  /** The run has another owner, or it has ended: the caller must stop. Nothing was written. */
  | 'fenced'
  /** The feed may not grow further. Nothing was written; only an end or a detach is still accepted. */
  | 'full'
  /** Not detached: something that it would wait for has ended, or a stop was requested. Nothing was written. */
  | 'wait-ended'
  /** There is no such run. */
  | 'gone';

/** The new term, or why the owner stays: the term was not the current one or the run has ended, or there is no run. */
export type ClaimResult = { readonly term: number } | 'fenced' | 'gone';

/** What each command can result in. */
export interface RunResults {
  readonly begin: BeginResult;
  readonly write: Exclude<WriteResult, 'wait-ended'>;
  readonly detach: Exclude<WriteResult, 'stopping' | 'full'>;
  readonly end: 'written' | 'fenced' | 'gone';
  readonly stop: 'stopping' | 'ended' | 'gone';
  readonly claim: ClaimResult;
  readonly release: ClaimResult;
}
