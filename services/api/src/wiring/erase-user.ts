import type { Owner } from '@parley/core/domain/ids';
import { keyIdOf, operatorOf } from '@parley/shared/domain/caller';
import type { Deliveries } from '@parley/shared/ports/delivery/kind';
import type { VaultStore } from '@parley/shared/ports/vault';
import { eraseConversation } from '@parley/shared/runs/erase/conversation';
import { eraseUser } from '@parley/shared/runs/erase/user';
import { answerLimitOf, USER_LIMITS } from '../http/limits/call-limits.ts';
import type { EraseConversation } from '../surfaces/ai-sdk/conversations.ts';
import type { EraseUser } from '../surfaces/rest/users.ts';
import { createActLog } from './acts.ts';
import type { PodParts } from './pod-parts.ts';

interface EraseUserParts extends Pick<PodParts, 'backend' | 'engine' | 'log'> {
  readonly deliveries: Pick<Deliveries, 'notesOn'>;
  readonly deliveryKinds: readonly string[];
  /** Revokes and deletes a person's accounts; undefined on a pod without connectors. */
  readonly disconnectAll: ((owner: Owner) => Promise<number>) | undefined;
  /** As `EraseUserDeps.unlink`. */
  readonly unlink: ((owner: Owner) => Promise<void>) | undefined;
}

// Readers need a moment to read the last events, and a proxy may end a call after 30 s.
const GRACE_MS = 1_000;
const BUDGET_MS = 20_000;

const PARTS = { elicitationLimits: (id: string) => [answerLimitOf(id)], graceMs: GRACE_MS };

/** Builds the call with which people delete conversations. */
export function wireEraseConversation(
  parts: Pick<EraseUserParts, 'backend' | 'engine' | 'deliveries'>,
): EraseConversation {
  return (conversation) => eraseConversation({ ...parts, ...PARTS }, conversation);
}

/** Builds the call that erases a user, with its log lines. */
export function wireEraseUser({ log, disconnectAll, ...parts }: EraseUserParts): EraseUser {
  const { vault } = parts.backend;
  const onAct = createActLog(log);
  const deps = {
    ...parts,
    eraseAccounts: disconnectAll ?? ((owner: Owner) => deleteCredentials(vault, owner)),
    userLimits: USER_LIMITS,
    ...PARTS,
    budgetMs: BUDGET_MS,
  };
  return async (owner, by) => {
    const erased = await eraseUser(deps, owner);
    const { complete, counts } = erased;
    const operator = operatorOf(by);
    const key = operator === undefined ? keyIdOf(by) : undefined;
    log.info({ ...owner, key, operator, complete, ...counts }, 'user erased');
    if (operator !== undefined) onAct({ act: 'erase', subject: owner.userId }, by);
    return erased;
  };
}

/** Deletes credentials that no connector of this pod can revoke. */
async function deleteCredentials(store: VaultStore, owner: Owner): Promise<number> {
  const { credentials, staged } = await store.listOf(owner);
  for (const ref of credentials) await store.remove(ref, (await store.read(ref))?.version ?? 0);
  for (const flow of staged) await store.drop(flow);
  return credentials.length + staged.length;
}
