import type { WebhookSettings } from '../domain/webhooks/rules.ts';
import type { Backend } from '../ports/backend.ts';
import type { Deliveries } from '../ports/delivery/kind.ts';
import type { Observer } from '../ports/elicitations/observer.ts';
import type { OwnerRecordsByKind } from '../ports/owner-records.ts';
import type { Timers } from '../ports/timers.ts';

/** Bounds and rhythms of the engine; every one has a default in config/env.ts. */
export interface EngineSettings extends WebhookSettings {
  /** How long ended rows, feeds and claims stay, in ms. */
  readonly retentionMs: number;
  readonly messageCharactersMax: number;
  readonly schemaBytesMax: number;
  readonly schemaPropertiesMax: number;
  /** Development only: http URLs on loopback may be shown. */
  readonly allowLoopbackHttp: boolean;
  /** What comes before the id in the address of a connect page; absent where Parley serves none. */
  readonly connectBaseUrl?: string;
  /** What comes before the id in the address of an answer page; absent where Parley serves none. */
  readonly answerBaseUrl?: string;
  /** How long after its deadline a waiter may still return, in ms. */
  readonly graceMs: number;
  /** How often a waiter or reader looks at the truth although nothing woke it, in ms. */
  readonly recheckMs: number;
  /** How many bytes of open records a process keeps of those that it wrote or showed. */
  readonly knownBytesMax: number;
}

/** What every use case gets. */
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
  /** The timers of this process, which expire what it asked itself. Absent in a process that asks nothing. */
  readonly timers?: Timers;
  readonly observer: Observer;
  readonly settings: EngineSettings;
  /** The registered delivery kinds: what each commit notes in the outbox, and what is handled at once. */
  readonly deliveries: Deliveries;
}
