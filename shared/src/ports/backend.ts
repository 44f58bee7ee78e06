import type { PushedCall } from '../domain/a2a/pushed-call.ts';
import type { ApprovalWake } from '../domain/approvals/wake.ts';
import type { AnswerMisfit } from '../domain/elicitations/answer-misfit.ts';
import type { InboxWake, Wake } from '../domain/elicitations/wake.ts';
import type { ClientReplied } from '../domain/runs/client-request.ts';
import type { DeadLetters } from './delivery/dead-letters.ts';
import type { Outbox } from './delivery/outbox.ts';
import type { Subscriptions } from './delivery/subscriptions.ts';
import type { Claims } from './elicitations/claims.ts';
import type { DeadlineJobs } from './elicitations/deadlines.ts';
import type { Approvals, Elicitations, StoredRecords } from './elicitations/elicitations.ts';
import type { EventBus } from './elicitations/event-bus.ts';
import type { Feed } from './elicitations/feed.ts';
import type { Erasure } from './erasure.ts';
import type { InstallationReader } from './installation.ts';
import type { Limits } from './limits.ts';
import type { OwnerRecordsByKind } from './owner-records.ts';
import type { PageStore } from './page-store.ts';
import type { Conversations } from './runs/conversations.ts';
import type { Heartbeats } from './runs/heartbeats.ts';
import type { RunQueue } from './runs/run-queue.ts';
import type { Runs } from './runs/runs.ts';
import type { TenantChanges } from './tenant-changes.ts';
import type { TenantLists } from './tenant-lists.ts';
import type { VaultStore } from './vault.ts';

/** The health of a backend, for readiness. `commands`: they are answered. `subscription`: it is acknowledged. */
export interface BackendHealth {
  readonly commands: boolean;
  readonly subscription: boolean;
  /** The Redis of the vault's own answers. Absent when the vault has none. */
  readonly vault?: boolean;
  /** Time since the last run of the timer canary, in ms. Absent when it has not run. */
  readonly timerCanaryAgeMs?: number;
}

/** What the chats of one person may use. */
export interface ChatQuotas {
  /** Turns that run at once. One that is detached does not count. */
  readonly turnsMax: number;
  /** Tokens of models in a day, from the first of them on. */
  readonly tokensMax: number;
  readonly conversationsMax: number;
  /** Bytes of the records and feeds of runs, and of the histories of conversations. */
  readonly storedBytesMax: number;
}

/** Limits that the commits enforce. */
export interface BackendSettings {
  /** How long ended rows and feeds are kept, in ms. */
  readonly retentionMs: number;
  /** How long a webhook that could not be delivered is listed, in ms. */
  readonly deadLetterMs: number;
  readonly openPerUserMax: number;
  /** Bytes of the definitions of one user's open elicitations. */
  readonly openBytesPerUserMax: number;
  /** Bytes of the rows of one page of a list. One row may exceed it. */
  readonly pageBytesMax: number;
  readonly historyPerUserMax: number;
  readonly feedEventsMax: number;
  /** Limit of the bytes of events of one turn. */
  readonly turnBytesMax: number;
  /** Number of messages that a conversation keeps. */
  readonly historyMessagesMax: number;
  /**
   * Bytes of the messages that a conversation keeps without their images, and bytes of these. The messages of its latest
   * turn are kept, however large.
   */
  readonly historyBytesMax: number;
  readonly historyImageBytesMax: number;
  /** How long a conversation is kept after its last turn, in ms. */
  readonly conversationTtlMs: number;
  readonly chatQuotas: ChatQuotas;
  /** Number of entries of all workflows of one user. */
  readonly workflowEntriesMax: number;
  /** An owner of a run that dies within so long after it got the run, in ms, may have died of it. */
  readonly diedSoonMs: number;
}

/** All ports of one backend: memory or Redis. */
export interface Backend {
  readonly elicitations: Elicitations;
  readonly approvals: Approvals;
  readonly records: StoredRecords;
  readonly feed: Feed;
  readonly runs: Runs;
  readonly runQueue: RunQueue;
  readonly outbox: Outbox;
  readonly subscriptions: Subscriptions;
  readonly deadLetters: DeadLetters;
  readonly conversations: Conversations;
  readonly heartbeats: Heartbeats;
  readonly wakes: EventBus<Wake>;
  /** The wakes of approvals alone, by stream request. */
  readonly approvalWakes: EventBus<ApprovalWake>;
  /** The wakes of records by owner, for inboxes. */
  readonly inboxWakes: EventBus<InboxWake>;
  /** Answers that did not fit, by the stream request of their question. */
  readonly answerMisfits: EventBus<AnswerMisfit>;
  /** Replies of clients to requests of servers, by the stream request of the call. */
  readonly clientReplies: EventBus<ClientReplied>;
  /** That the subscriptions of a session of MCP changed, by its id in place of a stream request. */
  readonly subscriptionChanges: EventBus<'changed'>;
  /** Pushes of remote agents, by the stream request of the run whose call they are about. */
  readonly pushedCalls: EventBus<PushedCall>;
  readonly deadlineJobs: DeadlineJobs;
  readonly claims: Claims;
  readonly limits: Limits;
  /** State of the hosted connect pages. */
  readonly pages: PageStore;
  readonly erasure: Erasure;
  readonly tenantLists: TenantLists;
  readonly tenantChanges: TenantChanges;
  /** Records of surfaces, by owner. */
  readonly ownerRecords: OwnerRecordsByKind;
  /** Sealed credentials. */
  readonly vault: VaultStore;
  readonly installation: InstallationReader;
  health(): Promise<BackendHealth>;
  close(): Promise<void>;
}
