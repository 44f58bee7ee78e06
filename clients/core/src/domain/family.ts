/**
 * What elicitations and approvals have in common, as types for code that serves both. The families themselves are defined
 * beside their rules.
 */

import type { StreamEvent } from './events.ts';
import type { FamilyPrefix, StreamRef } from './ids.ts';
import type { Issue } from './issue.ts';
import type { NotifyRules } from './notify.ts';

/** The fields of every definition. */
export interface RecordDefinition extends StreamRef {
  readonly conversationId: string;
  readonly timeoutSeconds: number;
  /** The W3C traceparent of the asking span. */
  readonly traceparent?: string;
  /** The channel that is told of every change, and the rules for notifying the person. */
  readonly notify?: NotifyRules;
}

/** The types of one family, as a single parameter of generic code. */
export interface FamilyTypes {
  readonly definition: RecordDefinition;
  readonly status: string;
  readonly settlement: object;
  /** The family's own commands, in addition to those of every family. */
  readonly command: { readonly type: string };
  readonly event: StreamEvent;
  /** The events of the family's event bus. */
  readonly wake: object;
  /** The form in which callers see the record. */
  readonly wire: object;
}

/** A stored record. `revision` starts at 1 and rises by one with every commit; times are ms on the Redis clock. */
export interface RowOf<T extends FamilyTypes> {
  readonly id: string;
  readonly definition: T['definition'];
  readonly status: T['status'];
  readonly revision: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settlement?: T['settlement'];
  readonly settledAt?: number;
  /** The commits that moved the deadline, oldest first. */
  readonly extensions?: readonly Extension[];
}

/** A commit that moved a deadline. */
export interface Extension {
  /** The revision that the commit made. */
  readonly revision: number;
  readonly expiresAt: number;
}

/** One step: the row's next state, and the event about it. */
export interface StepOf<T extends FamilyTypes> {
  readonly status: T['status'];
  readonly settlement?: T['settlement'];
  readonly event: T['event'];
  /** The new deadline, if the step moves it. */
  readonly expiresAt?: number;
  /**
   * `open`: valid only before the deadline. `due`: valid only from the deadline on. The commit checks this on the Redis clock.
   */
  readonly guard: 'open' | 'due';
}

/** Why a command is refused. The message says what to do. */
export type Refusal =
  | { readonly code: 'invalid_request'; readonly message: string }
  | { readonly code: 'invalid_answer'; readonly message: string; readonly issues: readonly Issue[] }
  | { readonly code: 'already_settled' | 'expired'; readonly message: string };

/** What a command does to a record. */
export type DecisionOf<T extends FamilyTypes> =
  | { readonly type: 'commit'; readonly step: StepOf<T> }
  /** The deadline passed before the command came: commit this step first, and then decide again. */
  | { readonly type: 'expire-first'; readonly step: StepOf<T> }
  | { readonly type: 'unchanged' }
  | { readonly type: 'refused'; readonly refusal: Refusal };

/** Ends a record whose deadline has passed. */
export interface ExpireCommand {
  readonly type: 'expire';
}

/** Withdraws a record on the asker's behalf. `key` names the service key that sent the command. */
export interface WithdrawCommand {
  readonly type: 'withdraw';
  readonly reason: string;
  readonly key?: string | undefined;
}

/** Moves the deadline of an open record to a later time, on the Redis clock in ms. */
export interface ExtendCommand {
  readonly type: 'extend';
  readonly expiresAt: number;
}

/** The commands that every family has. */
export type CommonCommand = ExpireCommand | WithdrawCommand | ExtendCommand;

/** The content of a wake for a waiter. With a settlement, the waiter need not read the row. */
export interface RecordWake<T extends FamilyTypes> {
  readonly id: string;
  readonly revision: number;
  readonly status: T['status'];
  /** The time of the commit on the Redis clock, in ms. */
  readonly at: number;
  readonly settlement?: T['settlement'];
}

/**
 * A family is a kind of record that a person settles: elicitations or approvals. Families differ in their definition, their
 * table of moves and their wire form, which this interface describes. They share everything else: ids, rows, commits,
 * deadlines, inboxes, waits and withdrawals. The prefix of an id names the family of its record.
 */
export interface Family<T extends FamilyTypes> {
  readonly prefix: FamilyPrefix;
  /** The word for a record in messages to callers. */
  readonly noun: string;
  readonly initialStatus: T['status'];
  readonly openStatuses: readonly T['status'][];
  /** True for every status except the open ones, so also for terminal ones that only a newer build knows. */
  isTerminal(status: T['status']): boolean;
  /** Decides what a command does to a row. `now` is the Redis clock in ms, read together with the row. */
  decide(row: RowOf<T>, command: T['command'] | CommonCommand, now: number): DecisionOf<T>;
  /** The event of the commit that gave a record this revision and status. It never contains what a person wrote. */
  eventOf(id: string, revision: number, status: T['status'], settlement?: T['settlement']): T['event'];
  /** The part of a wake that identifies the commit, without its settlement. */
  wakeHintOf(id: string, revision: number, status: T['status']): object;
  /** The content of a bus event about a record of this family; undefined for any other event. */
  readWake(wake: T['wake']): RecordWake<T> | undefined;
  /**
   * The row in the form that callers see. `content` includes what the person wrote, which only the asker and the owner may get.
   */
  toWire(row: RowOf<T>, options: { readonly now: number; readonly content: boolean }): T['wire'];
}
