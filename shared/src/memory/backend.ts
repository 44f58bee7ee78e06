import type { PushedCall } from '../domain/a2a/pushed-call.ts';
import type { ApprovalWake } from '../domain/approvals/wake.ts';
import type { AnswerMisfit } from '../domain/elicitations/answer-misfit.ts';
import type { InboxWake, Wake } from '../domain/elicitations/wake.ts';
import type { ClientReplied } from '../domain/runs/client-request.ts';
import type { Backend, BackendSettings } from '../ports/backend.ts';
import { recordsByKind } from '../ports/owner-records.ts';
import { createMemoryClaims } from './claims.ts';
import { createMemoryElicitations } from './elicitations/elicitations.ts';
import { createMemoryErasure } from './erasure.ts';
import { InProcessEventBus } from './event-bus.ts';
import { createMemoryFeed } from './feed.ts';
import { createMemoryFence } from './fence.ts';
import { createMemoryHeartbeats } from './heartbeats.ts';
import { createMemoryLimits } from './limits.ts';
import { createMemoryDeadLetters } from './outbox/dead-letters.ts';
import { createMemoryOutbox } from './outbox/outbox.ts';
import { createMemorySubscriptions } from './outbox/subscriptions.ts';
import { createMemoryOwnerRecords } from './owner-records.ts';
import { createMemoryPageStore } from './page-store.ts';
import { createMemoryRunQueue } from './run-queue.ts';
import { createMemoryRuns } from './runs/runs.ts';
import { createMemoryTenantChanges } from './tenant-changes.ts';
import { createMemoryTenantLists } from './tenant-lists.ts';
import { createMemoryVaultStore } from './vault-store.ts';

/**
 * Implements all ports in one process, for development, tests and installations with one pod. Its data is lost when the process
 * ends.
 */
export function createMemoryBackend(settings: BackendSettings): Backend {
  const feed = createMemoryFeed(settings.feedEventsMax);
  const wakes = new InProcessEventBus<Wake>();
  const approvalWakes = new InProcessEventBus<ApprovalWake>();
  const inboxWakes = new InProcessEventBus<InboxWake>();
  const fence = createMemoryFence();
  const subscriptions = createMemorySubscriptions(fence);
  const tenantChanges = createMemoryTenantChanges();
  const outbox = createMemoryOutbox(tenantChanges);
  const shared = { feed, wakes, outbox, subscriptions, fence, tenantChanges, settings };
  const elicitations = createMemoryElicitations({ ...shared, approvalWakes, inboxWakes });
  const { runs, conversations, stored } = createMemoryRuns({ ...shared, elicitations });
  return {
    elicitations,
    approvals: elicitations.approvals,
    records: elicitations.records,
    feed,
    heartbeats: createMemoryHeartbeats(),
    runs,
    conversations,
    erasure: createMemoryErasure({ elicitations, feed, turns: stored, outbox, subscriptions, fence }),
    tenantLists: createMemoryTenantLists({
      records: elicitations.all,
      turns: stored.all,
      deliveries: outbox.listed,
    }),
    tenantChanges,
    ownerRecords: recordsByKind(settings.workflowEntriesMax, (_kind, bound) =>
      createMemoryOwnerRecords(fence, bound),
    ),
    outbox,
    subscriptions,
    deadLetters: createMemoryDeadLetters({ keepMs: settings.deadLetterMs }),
    runQueue: createMemoryRunQueue(),
    wakes,
    approvalWakes,
    inboxWakes,
    answerMisfits: new InProcessEventBus<AnswerMisfit>(),
    clientReplies: new InProcessEventBus<ClientReplied>(),
    subscriptionChanges: new InProcessEventBus<'changed'>(),
    pushedCalls: new InProcessEventBus<PushedCall>(),
    // No worker takes jobs in this process; the pod's timers and its sweep expire elicitations.
    deadlineJobs: { add: async () => undefined },
    claims: createMemoryClaims(),
    limits: createMemoryLimits(),
    vault: createMemoryVaultStore(),
    pages: createMemoryPageStore(fence),
    installation: { queues: async () => [], workers: async () => [], servers: async () => [] },
    health: async () => ({ commands: true, subscription: true }),
    close: async () => undefined,
  };
}
