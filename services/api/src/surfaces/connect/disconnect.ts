import type { Owner } from '@parley/shared/domain/ids';
import type { VaultStore } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import type { Connector } from './connectors/connector.ts';
import type { ConnectEvent } from './events.ts';
import { dropFlow } from './flows/ending.ts';
import type { ConnectTargets, CredentialTarget } from './targets.ts';

/** What a provider did with a credential that was deleted here. */
export type Revocation = Awaited<ReturnType<Connector['revoke']>>;

export interface DisconnectDeps {
  readonly vault: Pick<Vault, 'remove'>;
  readonly onEvent: (event: ConnectEvent, requestId?: string) => void;
}

/**
 * Deletes a person's credential and revokes it at the provider, where that is possible. Returns what the provider did;
 * undefined when none was stored, or none that opens. Throws `unavailable`; repeatable.
 */
export async function disconnect(
  { vault, onEvent }: DisconnectDeps,
  { tenant, userId }: Owner,
  { toolId, connector }: Pick<CredentialTarget, 'toolId' | 'connector'>,
  requestId?: string,
): Promise<Revocation | undefined> {
  const removed = await vault.remove({ tenant, userId, toolId, connectorId: connector.id });
  if (removed === undefined) return undefined;
  const revoked = await connector.revoke(removed.reveal());
  onEvent({ type: 'disconnected', toolId, connectorId: connector.id, tenant, revoked }, requestId);
  return revoked;
}

export interface DisconnectAllDeps extends DisconnectDeps {
  readonly store: VaultStore;
  readonly vault: Pick<Vault, 'remove' | 'staged' | 'drop'>;
  readonly targets: Pick<ConnectTargets, 'connector' | 'credentials'>;
}

/**
 * Disconnects every account of a person, also of services that are no longer configured, and drops what their flows have
 * staged. Returns how many there were; what is stored during the call needs another call. Throws `unavailable`; repeatable.
 */
export async function disconnectAll(deps: DisconnectAllDeps, owner: Owner): Promise<number> {
  const { store, vault, targets } = deps;
  const { credentials, staged } = await store.listOf(owner);
  for (const ref of credentials) {
    const connector = targets.connector(ref.connectorId);
    if (connector === undefined) await vault.remove(ref);
    else await disconnect(deps, owner, { toolId: ref.toolId, connector });
  }
  // An earlier version may have stored credentials that are in no list.
  let unlisted = 0;
  for (const target of targets.credentials()) {
    const { toolId, connector } = target;
    if ((await store.read({ ...owner, toolId, connectorId: connector.id })) === undefined) continue;
    await disconnect(deps, owner, target);
    unlisted += 1;
  }
  for (const flow of staged) await dropFlow(deps, flow);
  return credentials.length + staged.length + unlisted;
}
