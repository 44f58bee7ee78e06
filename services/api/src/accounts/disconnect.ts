import type { Owner } from '@parley/core/domain/ids';
import type { Credential } from '@parley/shared/domain/credential';
import type { VaultStore } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import type { Connector } from './connector.ts';
import type { AccountEvent } from './events.ts';
import { dropFlow } from './flows/ending.ts';
import type { SignIns } from './managed/sign-ins.ts';
import type { AccountTargets, CredentialTarget } from './targets.ts';

/** The provider's reaction to a credential that was deleted here. */
export type Revocation = Awaited<ReturnType<Connector['revoke']>>;

export interface DisconnectDeps {
  readonly vault: Pick<Vault, 'remove' | 'save'>;
  readonly onEvent: (event: AccountEvent, requestId?: string) => void;
}

const DISCONNECTED: Credential = { kind: 'withheld', why: 'disconnected' };

type DisconnectTarget = Pick<CredentialTarget, 'toolId' | 'connector'>;

/**
 * Deletes a person's credential, and revokes it at the provider where that is possible. Their company sign-in then does not
 * connect the account again. Returns the result of the revocation; undefined if no credential was stored or none could be
 * opened. Throws `unavailable`. Can be repeated.
 */
export async function disconnect(
  deps: DisconnectDeps,
  owner: Owner,
  account: DisconnectTarget,
  requestId?: string,
): Promise<Revocation | undefined> {
  const { tenant, userId } = owner;
  const { toolId, connector } = account;
  let revoked: Revocation | undefined;
  for (;;) {
    revoked = (await removeAndRevoke(deps, owner, account, requestId)) ?? revoked;
    if (connector.obtainFor === undefined) return revoked;
    const ref = { tenant, userId, toolId, connectorId: connector.id };
    // The sign-in may have connected the account again after the credential was removed.
    if ((await deps.vault.save(ref, DISCONNECTED, 0)) !== undefined) return revoked;
  }
}

async function removeAndRevoke(
  { vault, onEvent }: DisconnectDeps,
  { tenant, userId }: Owner,
  { toolId, connector }: DisconnectTarget,
  requestId?: string,
): Promise<Revocation | undefined> {
  const removed = (await vault.remove({ tenant, userId, toolId, connectorId: connector.id }))?.reveal();
  if (removed === undefined || removed.kind === 'withheld') return undefined;
  const revoked = await connector.revoke(removed);
  onEvent({ type: 'disconnected', toolId, connectorId: connector.id, tenant, revoked }, requestId);
  return revoked;
}

interface DisconnectAllDeps extends DisconnectDeps {
  readonly store: VaultStore;
  readonly vault: Pick<Vault, 'remove' | 'save' | 'staged' | 'drop'>;
  readonly targets: Pick<AccountTargets, 'connector' | 'credentials'>;
  /** Present where people sign in at a provider. */
  readonly signIns?: Pick<SignIns, 'end'> | undefined;
}

/**
 * Disconnects every account of a person, including those of services that are no longer configured, and deletes what their
 * flows have staged. Returns the number of accounts. A credential stored during the call needs another call. Throws
 * `unavailable`. Can be repeated.
 */
export async function disconnectAll(deps: DisconnectAllDeps, owner: Owner): Promise<number> {
  const { store, vault, targets } = deps;
  // The sign-in ends first, so that it connects no account after the list was read.
  await deps.signIns?.end(owner);
  const { credentials, staged } = await store.listOf(owner);
  for (const ref of credentials) {
    const connector = targets.connector(ref.connectorId);
    if (connector === undefined) await vault.remove(ref);
    else await removeAndRevoke(deps, owner, { toolId: ref.toolId, connector });
  }
  // An earlier version may have stored credentials that no list names.
  let unlisted = 0;
  for (const target of targets.credentials()) {
    const { toolId, connector } = target;
    if ((await store.read({ ...owner, toolId, connectorId: connector.id })) === undefined) continue;
    await removeAndRevoke(deps, owner, target);
    unlisted += 1;
  }
  for (const flow of staged) await dropFlow(deps, flow);
  return credentials.length + staged.length + unlisted;
}
