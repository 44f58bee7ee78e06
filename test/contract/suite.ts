import { describe, expect, it } from 'vitest';
import { type Contract, contractOn } from '../harness/engines/contract.ts';
import type { Store } from '../harness/engines/pods.ts';
import { isFullSize } from '../harness/proof-size.ts';
import { auditContract } from './cases/audit.ts';
import { budgetContract, placesContract } from './cases/delivery/budgets.ts';
import { busContract } from './cases/delivery/buses.ts';
import { deadLetterContract } from './cases/delivery/dead-letters.ts';
import { announcingContract, outboxContract } from './cases/delivery/outboxes.ts';
import { answeringContract } from './cases/elicitations/answering.ts';
import { armingContract } from './cases/elicitations/arming.ts';
import { askingContract } from './cases/elicitations/asking.ts';
import { leavingContract } from './cases/elicitations/deadlines-retention.ts';
import { expiringTogetherContract } from './cases/elicitations/expiring-together.ts';
import { feedContract } from './cases/elicitations/feeds.ts';
import { inboxContract } from './cases/elicitations/inboxes.ts';
import { knownRowsContract } from './cases/elicitations/known-rows.ts';
import { pageContract } from './cases/elicitations/pages.ts';
import { racingContract } from './cases/elicitations/racing.ts';
import { modelContract } from './cases/elicitations/random-commands.ts';
import { repeatingContract } from './cases/elicitations/repeating.ts';
import { waitContract } from './cases/elicitations/waiting.ts';
import { watchContract } from './cases/elicitations/watching.ts';
import { erasingContract } from './cases/erasing.ts';
import { approvalContract } from './cases/families/editing.ts';
import { extendingContract } from './cases/families/extending.ts';
import { familyContract } from './cases/families/shared.ts';
import { ownerRecordContract } from './cases/owner-records.ts';
import { pageStoreContract } from './cases/page-store.ts';
import { detachingContract } from './cases/runs/detaching.ts';
import { liveTextContract } from './cases/runs/live-texts.ts';
import { quotaContract } from './cases/runs/quotas.ts';
import { runsModelContract } from './cases/runs/random-commands.ts';
import { runQueueContract } from './cases/runs/run-queues.ts';
import { turnContract } from './cases/runs/turns.ts';
import { tenantChangesContract } from './cases/tenants/changes.ts';
import { tenantDeliveriesContract } from './cases/tenants/deliveries.ts';
import { tenantListContract } from './cases/tenants/lists.ts';
import { sealedStateContract } from './cases/vault/sealed-state.ts';
import { refreshContract, vaultContract } from './cases/vault/suite.ts';

/** Parts that together run every script, publish in every way and use every kind of record. */
const ON_EVERY_TOPOLOGY: readonly ((contract: Contract) => void)[] = [
  familyContract,
  extendingContract,
  feedContract,
  liveTextContract,
  runQueueContract,
  detachingContract,
  runsModelContract,
  busContract,
  expiringTogetherContract,
  modelContract,
  erasingContract,
  tenantListContract,
  tenantChangesContract,
  tenantDeliveriesContract,
  ownerRecordContract,
  pageStoreContract,
  vaultContract,
  sealedStateContract,
  placesContract,
  announcingContract,
  auditContract,
];

/** Parts that prove rules, which hold however the servers of a store are arranged. */
const ON_ONE_SERVER: readonly ((contract: Contract) => void)[] = [
  approvalContract,
  askingContract,
  repeatingContract,
  answeringContract,
  knownRowsContract,
  racingContract,
  watchContract,
  inboxContract,
  waitContract,
  turnContract,
  quotaContract,
  outboxContract,
  budgetContract,
  deadLetterContract,
  pageContract,
  leavingContract,
  armingContract,
  refreshContract,
];

/**
 * All that a backend promises, whichever it is. Memory and one Redis pass every line of it in every run. Sentinel and Cluster
 * pass the first list in a daily run, and `npm run soak` adds the second one.
 */
export function backendContract(name: string, store: Store): void {
  const isWhole = store.isTopology !== true || isFullSize;
  describe(name, () => {
    const contract = contractOn(store);
    for (const part of [...ON_EVERY_TOPOLOGY, ...(isWhole ? ON_ONE_SERVER : [])]) part(contract);
    const { scriptsNotRun } = store;
    if (scriptsNotRun === undefined) return;
    it('has run every script of the product in the tests before', async () => {
      expect(await scriptsNotRun()).toEqual([]);
    });
  });
}
