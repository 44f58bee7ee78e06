import type { WebhookSettings } from '../domain/webhooks/rules.ts';
import type { Backend } from '../ports/backend.ts';
import type { Deliveries } from '../ports/delivery/kind.ts';
import type { Observer } from '../ports/elicitations/observer.ts';
import type { OwnerRecordsByKind } from '../ports/owner-records.ts';
import type { Timers } from '../ports/timers.ts';

/** Limits and intervals of the engine. Each has a default in config/env.ts. */
export interface EngineSettings extends WebhookSettings {
  /** How long ended rows, feeds and claims are kept, in ms. */
  readonly retentionMs: number;
  readonly messageCharactersMax: number;
  readonly schemaBytesMax: number;
  readonly schemaPropertiesMax: number;
  /** For development only: http URLs on loopback may be shown. */
  readonly allowLoopbackHttp: boolean;
  /** The address of a connect page up to the id; absent when Parley serves none. */
  readonly connectBaseUrl?: string;
  /** The address of an answer page up to the id; absent when Parley serves none. */
  readonly answerBaseUrl?: string;
  /** How long after its deadline a waiter may still return, in ms. */
  readonly graceMs: number;
  /** How often a waiter or reader rechecks the store without a wake, in ms. */
  readonly recheckMs: number;
  /** How many bytes of open records a process caches, of those that it wrote or showed. */
  readonly knownBytesMax: number;
}

/** The dependencies of every use case. */
export interface EngineDeps
  extends Pick<
    Backend,
    | 'elicitations'
    | 'approvals'
    | 'records'
    | 'feed'
    | 'wakes'
    | 'approvalWakes'
    | 'inboxWakes'
    | 'claims'
    | 'deadlineJobs'
  > {
  /** Remembered approvals, and what people have seen. */
  readonly ownerRecords: Pick<OwnerRecordsByKind, 'grants' | 'seen'>;
  /** The timers of this process, which expire the records that it created. Absent in a process that asks nothing. */
  readonly timers?: Timers;
  readonly observer: Observer;
  readonly settings: EngineSettings;
  /** The delivery kinds: which tasks each commit notes, and which are handled at once. */
  readonly deliveries: Deliveries;
}
