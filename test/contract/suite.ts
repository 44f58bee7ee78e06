import { describe } from 'vitest';
import { budgetContract } from './cases/delivery/budgets.ts';
import { busContract } from './cases/delivery/buses.ts';
import { deadLetterContract } from './cases/delivery/dead-letters.ts';
import { outboxContract } from './cases/delivery/outboxes.ts';
import { answeringContract } from './cases/elicitations/answering.ts';
import { armingContract } from './cases/elicitations/arming.ts';
import { askingContract } from './cases/elicitations/asking.ts';
import { leavingContract } from './cases/elicitations/deadlines-retention.ts';
import { feedContract } from './cases/elicitations/feeds.ts';
import { inboxContract } from './cases/elicitations/inboxes.ts';
import { pageContract } from './cases/elicitations/pages.ts';
import { racingContract } from './cases/elicitations/racing.ts';
import { modelContract } from './cases/elicitations/random-commands.ts';
import { repeatingContract } from './cases/elicitations/repeating.ts';
import { settlingContract } from './cases/elicitations/settling.ts';
import { waitContract } from './cases/elicitations/waiting.ts';
import { watchContract } from './cases/elicitations/watching.ts';
import { erasingContract } from './cases/erasing.ts';
import { detachingContract } from './cases/runs/detaching.ts';
import { lateCopyContract } from './cases/runs/late-copies.ts';
import { quotaContract } from './cases/runs/quotas.ts';
import { runsModelContract } from './cases/runs/random-commands.ts';
import { runQueueContract } from './cases/runs/run-queues.ts';
import { turnContract } from './cases/runs/turns.ts';
import { contractOn } from './support/contract.ts';
import type { Store } from './support/pods.ts';

/** All that a backend promises, whichever it is. Every backend passes every line of it. */
export function backendContract(name: string, store: Store): void {
  describe(name, () => {
    const contract = contractOn(store);
    askingContract(contract);
    repeatingContract(contract);
    settlingContract(contract);
    answeringContract(contract);
    racingContract(contract);
    feedContract(contract);
    watchContract(contract);
    inboxContract(contract);
    waitContract(contract);
    turnContract(contract);
    quotaContract(contract);
    lateCopyContract(contract);
    runQueueContract(contract);
    detachingContract(contract);
    outboxContract(contract);
    runsModelContract(contract);
    busContract(contract);
    budgetContract(contract);
    deadLetterContract(contract);
    pageContract(contract);
    leavingContract(contract);
    armingContract(contract);
    modelContract(contract);
    erasingContract(contract);
  });
}
