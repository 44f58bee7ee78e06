/**
 * The commands on a run and their possible results, shared by the table, both back ends and their callers. The rules are in
 * `transition.ts`, and the stored run in `run.ts`.
 */

import type { EndStatus, ParentCall, RunRequest, RunStanding } from './run.ts';

/** The part of a run's record on which decisions depend. */
export interface RunControl extends RunStanding {
  /** The number of finished steps when the run's last owner died. */
  readonly stepsAtDeath: number;
  /** The sequence number of the last event that an owner of the run appended to the feed. */
  readonly writerSeq: number;
  /** The size of all those events as JSON, in bytes. */
  readonly bytes: number;
  /** The ordinal of the last numbered write; 0 when the current owner has made none. */
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

/** The quotas on a person's chats. `storage` counts bytes of runs and histories. `tokens` counts model tokens per day. */
export const CHAT_QUOTAS = ['turns', 'tokens', 'conversations', 'storage'] as const;
export type ChatQuota = (typeof CHAT_QUOTAS)[number];

/** An exhausted quota that prevents another turn. */
export interface ReachedQuota {
  readonly of: 'user' | 'tenant';
  readonly quota: ChatQuota;
  /** Milliseconds until part of the quota is released; 0 if unknown. */
  readonly retryInMs: number;
}

interface Begin {
  /** A pod's id, or `UNOWNED`. */
  readonly owner: string;
  readonly conversationId: string;
  readonly parent?: ParentCall;
  readonly request?: RunRequest;
  /** The size of the first event. */
  readonly eventBytes: readonly [number];
  /** Another turn that is running in the same conversation. */
  readonly running?: RunningTurn;
  /** Absent when all quotas admit the turn. Delegates have no quota. */
  readonly reached?: ReachedQuota;
}

/** The fields of every write of an owner. */
export interface OwnerWrite {
  readonly term: number;
  /** The ordinal of the write under its term, from 1; absent when a term has only one write. */
  readonly number?: number;
  /** The sequence number of the first event. */
  readonly firstSeq: number;
  /** The size of each event. */
  readonly eventBytes: readonly number[];
  readonly noteCount: number;
}

interface Write extends OwnerWrite {
  /** The maximum size of all events of a run, in bytes. */
  readonly bytesMax: number;
}

interface Detach extends OwnerWrite {
  /** True when a question or delegate's run has ended for which the run would wait. */
  readonly waitEnded: boolean;
}

interface End extends OwnerWrite {
  readonly status: EndStatus;
}

/** The term that the caller takes for the current one. */
interface OwnerChange {
  readonly term: number;
}

interface Claim extends OwnerChange {
  /** The pod that claims the run. */
  readonly owner: string;
  /** True when the present owner took the run only a short time ago. */
  readonly diedSoon: boolean;
  /** The number of finished steps of the run. */
  readonly steps: number;
}

/** The commands on a run. A command includes facts that the back end reads in the same atomic step. */
export interface RunCommands {
  readonly begin: Begin;
  /** Appends events and stores notes. */
  readonly write: Write;
  /** Writes, and gives up ownership until a question or a delegate's run ends. */
  readonly detach: Detach;
  /** Writes for the last time, and ends the run. */
  readonly end: End;
  /** Requests a stop. The owner sees the request in the result of its next write. */
  readonly stop: object;
  /** Makes a pod the owner of the run. */
  readonly claim: Claim;
  /** Removes the owner, so that any pod can claim the run: after a hand-over by its owner, or at the end of a wait. */
  readonly release: OwnerChange;
}
export type RunCommandType = keyof RunCommands;
export type RunCommand<Type extends RunCommandType = RunCommandType> = {
  readonly type: Type;
} & RunCommands[Type];

export type BeginResult =
  /** This call began the run. A repeat of the same call also gets this result, as long as the owner still owns the run. */
  | { readonly type: 'begun'; readonly term: number; readonly writerSeq: number }
  /** The run exists in some state. An earlier call of the same request began it, or this call did. */
  | { readonly type: 'known'; readonly conversationId: string }
  /** The run exists, but another request began it. */
  | { readonly type: 'mismatch' }
  /** Another turn of the conversation is running. */
  | ({ readonly type: 'running' } & RunningTurn)
  /** A quota of the person or of the tenant is used up. */
  | ({ readonly type: 'over-quota' } & ReachedQuota);

export type WriteResult =
  /** The write was made now, or by an earlier call of the same write. */
  | 'written'
  /** The write was made, and a stop was requested. */
  | 'stopping'
  /** The run has another owner or has ended, so the caller must stop. Nothing was written. */
  | 'fenced'
  /** Redis has lost earlier events of the caller. The caller must write them again first. Nothing was written. */
  | 'behind'
  /** The feed has reached its maximum size. Nothing was written; only an end or a detach is still accepted. */
  | 'full'
  /**
   * The run was not detached, because a question or delegate it would wait for has ended, or a stop was requested. Nothing was
   * written.
   */
  | 'wait-ended'
  /** The run does not exist. */
  | 'gone';

/**
 * The new term, or why there is none. `fenced`: the given term is not the current one, or the run has ended. `gone`: the run
 * does not exist.
 */
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
