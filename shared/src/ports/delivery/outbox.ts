import type { StreamRef } from '../../domain/ids.ts';

/** Something that has to happen after an elicitation ended, noted in the commit that ended it. */
export type OutboxTask =
  /** A detached run waits for it; `term` is the one that it was detached under. */
  | { readonly kind: 'wake'; readonly stream: StreamRef; readonly term: number }
  /** Its asker is to be told, at the address that the ask named. */
  | { readonly kind: 'webhook'; readonly elicitationId: string };

export interface OutboxEntry {
  readonly task: OutboxTask;
  /** How often it was tried, this time included; being handed out to somebody who died does not count. */
  readonly attempt: number;
  /** Which hand-out this is: what is said of an older one has no effect. 0 for a task that was not handed out. */
  readonly lease: number;
}

/**
 * What came of a task: it is done; it was tried, and is due again after so many ms; or it could not be tried, and is due
 * later, which does not count.
 */
export type OutboxResult = 'done' | { readonly retryInMs: number } | { readonly deferInMs: number };

/** How each kind of task is done. Must be harmless when done twice. Rejects when it could not be tried. */
export type OutboxHandlers = {
  readonly [Each in OutboxTask['kind']]: (
    task: Extract<OutboxTask, { readonly kind: Each }>,
    attempt: number,
  ) => Promise<OutboxResult>;
};

/** How many tasks of each kind. */
export type OutboxRoom = Readonly<Record<OutboxTask['kind'], number>>;

/** What has still to happen, by bucket. A task stays until it is done; equal tasks are one. */
export interface Outbox {
  /** Notes a task that no commit notes, to be done at once, as if it had never been tried. */
  add(task: OutboxTask): Promise<void>;
  /**
   * Tasks of a bucket that are due on the Redis clock, of each kind at most so many, longest due first; nobody else is
   * given them for `leaseMs`.
   */
  take(bucket: number, room: OutboxRoom, leaseMs: number): Promise<readonly OutboxEntry[]>;
  /** Crosses a task off, unless it was handed out again or added anew since. */
  done(entry: OutboxEntry): Promise<void>;
  /** Puts a task off that was tried, unless it was crossed off, handed out again or added anew since. */
  again(entry: OutboxEntry, inMs: number): Promise<void>;
  /** Puts a task off that was not tried, under the same conditions. */
  giveBack(entry: OutboxEntry, inMs: number): Promise<void>;
  /** For how long the task has been due that is due the longest and handed out to nobody, in ms; 0 when none is. */
  lagMs(): Promise<number>;
}
