/**
 * The list of all ports, and the settings that a back end enforces in its commits. Each port's guarantees stand on its own
 * interface.
 */

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

/**
 * The health of a back end, for readiness. `commands`: Redis answers commands. `subscription`: the subscription is
 * acknowledged.
 */
export interface BackendHealth {
  readonly commands: boolean;
  readonly subscription: boolean;
  /** Whether the vault's own Redis answers. Absent when the vault has none. */
  readonly vault?: boolean;
  /** The time since the timer canary last ran, in ms. Absent when it has not run. */
  readonly timerCanaryAgeMs?: number;
}

/** The quotas on the chats of one person. */
export interface ChatQuotas {
  /** The maximum of simultaneously running turns. Detached turns do not count. */
  readonly turnsMax: number;
  /** The maximum of model tokens per day. A day begins with the first token used. */
  readonly tokensMax: number;
  readonly conversationsMax: number;
  /** The maximum size of the records and feeds of runs and the histories of conversations together. */
  readonly storedBytesMax: number;
}

/** Limits that the commits enforce. */
export interface BackendSettings {
  /** How long ended rows and feeds are kept, in ms. */
  readonly retentionMs: number;
  /** How long the dead letter of a webhook is listed, in ms. */
  readonly deadLetterMs: number;
  readonly openPerUserMax: number;
  /** The maximum total size of the definitions of one user's open elicitations. */
  readonly openBytesPerUserMax: number;
  /** The maximum size of the rows in one page of a list. A single row may exceed it. */
  readonly pageBytesMax: number;
  readonly historyPerUserMax: number;
  readonly feedEventsMax: number;
  /** The maximum total size of the events of one turn. */
  readonly turnBytesMax: number;
  /** The maximum number of messages that a conversation keeps. */
  readonly historyMessagesMax: number;
  /**
   * The maximum size of a conversation's messages without their images, and the same limit for the images. The messages of the
   * latest turn are always kept.
   */
  readonly historyBytesMax: number;
  readonly historyImageBytesMax: number;
  /** How long a conversation is kept after its last turn, in ms. */
  readonly conversationTtlMs: number;
  readonly chatQuotas: ChatQuotas;
  /** The maximum number of entries of all workflows of one user. */
  readonly workflowEntriesMax: number;
  /** An owner that dies within this time after taking a run, in ms, may have died because of the run. */
  readonly diedSoonMs: number;
}

/** All ports of one back end: memory or Redis. */
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
  /** The wakes of approvals only, by stream request. */
  readonly approvalWakes: EventBus<ApprovalWake>;
  /** The wakes of records, by owner, for inboxes. */
  readonly inboxWakes: EventBus<InboxWake>;
  /** Answers that did not fit their form, by the stream request of the question. */
  readonly answerMisfits: EventBus<AnswerMisfit>;
  /** Replies of clients to requests of MCP servers, by the stream request of the call. */
  readonly clientReplies: EventBus<ClientReplied>;
  /** Changes of the subscriptions of an MCP session. The topic has the session's id in place of a stream request. */
  readonly subscriptionChanges: EventBus<'changed'>;
  /** Pushes of remote agents, by the stream request of the run that made the call. */
  readonly pushedCalls: EventBus<PushedCall>;
  readonly deadlineJobs: DeadlineJobs;
  readonly claims: Claims;
  readonly limits: Limits;
  /** The state of the hosted pages. */
  readonly pages: PageStore;
  readonly erasure: Erasure;
  readonly tenantLists: TenantLists;
  readonly tenantChanges: TenantChanges;
  /** Small records of surfaces, by owner. */
  readonly ownerRecords: OwnerRecordsByKind;
  /** Sealed credentials. */
  readonly vault: VaultStore;
  readonly installation: InstallationReader;
  health(): Promise<BackendHealth>;
  close(): Promise<void>;
}
