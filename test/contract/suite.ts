import { describe } from 'vitest';
import { answeringContract } from './answering.ts';
import { askingContract } from './asking.ts';
import { budgetContract } from './budgets.ts';
import { busContract } from './buses.ts';
import { contractOn } from './contract.ts';
import { deadLetterContract } from './dead-letters.ts';
import { detachingContract } from './detaching.ts';
import { feedContract } from './feeds.ts';
import { inboxContract } from './inboxes.ts';
import { lateCopyContract } from './late-copies.ts';
import { leavingContract } from './leaving.ts';
import { modelContract } from './model.ts';
import { outboxContract } from './outboxes.ts';
import { pageContract } from './pages.ts';
import type { Store } from './pods.ts';
import { racingContract } from './racing.ts';
import { repeatingContract } from './repeating.ts';
import { runQueueContract } from './run-queues.ts';
import { runsModelContract } from './runs-play.ts';
import { settlingContract } from './settling.ts';
import { turnContract } from './turns.ts';
import { waitContract } from './waiting.ts';
import { watchContract } from './watching.ts';

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
    modelContract(contract);
  });
}
