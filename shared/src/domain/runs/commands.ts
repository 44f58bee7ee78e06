import type { EndStatus, ParentCall, RunRequest, RunStanding } from './run.ts';

/** The part of a run's record that decides what a command does. */
export interface RunControl extends RunStanding {
  /** Steps that the run had finished when its last owner died. */
  readonly stepsAtDeath: number;
  /** Number of the last event that the run's owners appended to the feed. */
  readonly writerSeq: number;
  /** Bytes of all those events, as JSON. */
  readonly bytes: number;
  /** Number of the last numbered write; 0 where the current owner has made none. */
  readonly writes: number;
  readonly stopRequested: boolean;
  /** True once the run has been detached. */
  readonly wasDetached: boolean;
  readonly request?: RunRequest;
}

/** The turn that runs in a conversation. */
export interface RunningTurn {
  readonly streamRequestId: string;
  readonly owner: string;
  readonly term: number;
}

/** What a person's chats may use. `storage`: bytes of their runs and histories. `tokens`: of models, in a day. */
export const CHAT_QUOTAS = ['turns', 'tokens', 'conversations', 'storage'] as const;
export type ChatQuota = (typeof CHAT_QUOTAS)[number];

/** A quota that does not admit another turn now. */
export interface ReachedQuota {
  /** Whose quota it is. */
  readonly of: 'user' | 'tenant';
  readonly quota: ChatQuota;
  /** When something of it becomes free by itself, in ms; 0 where that cannot be told. */
  readonly retryInMs: number;
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
  /** Absent where all quotas admit the turn, and for delegates. */
  readonly reached?: ReachedQuota;
}

/** The part that all writes of an owner have. */
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
  /** Limit of the bytes of all events of a run. */
  readonly bytesMax: number;
}

interface Detach extends OwnerWrite {
  /** True when a question or a delegate's run has ended that the run would wait for. */
  readonly waitEnded: boolean;
}

interface End extends OwnerWrite {
  readonly status: EndStatus;
}

/** The term that the caller believes to be current. */
interface OwnerChange {
  readonly term: number;
}

interface Claim extends OwnerChange {
  /** The pod that claims the run. */
  readonly owner: string;
  /** True where the present owner got the run only a short while ago. */
  readonly diedSoon: boolean;
  /** Steps that the run has finished. */
  readonly steps: number;
}

/** The commands on a run. A command includes facts that the backend reads in the same atomic step. */
export interface RunCommands {
  readonly begin: Begin;
  /** Appends events and keeps notes. */
  readonly write: Write;
  /** A write that also gives the run up until a question or a delegate's run ends. */
  readonly detach: Detach;
  /** The last write, which also ends the run. */
  readonly end: End;
  /** Requests a stop; the owner learns of it from its next write. */
  readonly stop: object;
  /** Makes a pod the owner. */
  readonly claim: Claim;
  /** Leaves the run without an owner, for any pod to claim: a hand-over by its owner, or the end of a wait. */
  readonly release: OwnerChange;
}
export type RunCommandType = keyof RunCommands;
export type RunCommand<Type extends RunCommandType = RunCommandType> = {
  readonly type: Type;
} & RunCommands[Type];

export type BeginResult =
  /** Also for a repeat of the same call, as long as its owner still owns the run. */
  | { readonly type: 'begun'; readonly term: number; readonly writerSeq: number }
  /** The run exists in any state. It was begun by an earlier call of the same request, or by this call. */
  | { readonly type: 'known'; readonly conversationId: string }
  /** The run exists, and was begun by another request. */
  | { readonly type: 'mismatch' }
  /** Another turn of this conversation is running. */
  | ({ readonly type: 'running' } & RunningTurn)
  /** A quota of the person or of the tenant is used up. */
  | ({ readonly type: 'over-quota' } & ReachedQuota);

export type WriteResult =
  /** Written now, or by an earlier call of the same write. */
  | 'written'
  /** Written, and a stop was requested. */
  | 'stopping'
  /** The run has another owner, or it has ended: the caller must stop. Nothing was written. */
  | 'fenced'
  /** Redis has lost earlier events of the caller, which must be written again before these. Nothing was written. */
  | 'behind'
  /** The feed may not grow further. Nothing was written; only an end or a detach is still accepted. */
  | 'full'
  /** Not detached: something that it would wait for has ended, or a stop was requested. Nothing was written. */
  | 'wait-ended'
  /** There is no such run. */
  | 'gone';

/** The new term, or why the owner stays: the term was not the current one or the run has ended, or there is no run. */
export type ClaimResult = { readonly term: number } | 'fenced' | 'gone';

/** The possible results of each command. */
export interface RunResults {
  readonly begin: BeginResult;
  readonly write: Exclude<WriteResult, 'wait-ended'>;
  readonly detach: Exclude<WriteResult, 'stopping' | 'full'>;
  readonly end: 'written' | 'fenced' | 'behind' | 'gone';
  readonly stop: 'stopping' | 'ended' | 'gone';
  readonly claim: ClaimResult;
  readonly release: ClaimResult;
}
