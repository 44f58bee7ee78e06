import type { Owner } from '@parley/core/domain/ids';
import type { Credential } from '@parley/shared/domain/credential';
import { SealError } from '@parley/shared/vault/seal';
import type { Vault } from '@parley/shared/vault/vault';
import type { CredentialTarget } from './targets.ts';

/** A stored account, without anything secret. */
export interface StoredAccount {
  /** `reconnect_required`: the service refuses the credential, or it cannot be opened any more. */
  readonly state: 'connected' | 'reconnect_required';
  /** When the credential was stored or last renewed, in ms; absent when no key opens it. */
  readonly savedAt?: number;
  /** Granted scopes by their technical names; empty when they are not known. */
  readonly scopes: readonly string[];
  /** Whether Parley can renew the credential without the person; absent when that is not known. */
  readonly renews?: boolean;
  /** Present where the person's company sign-in connected the account. The sign-in also renews the credential. */
  readonly managed?: true;
}

/** The account of a person at a service; undefined when none is connected. Throws `unavailable`. */
export async function readAccount(
  vault: Pick<Vault, 'read'>,
  { tenant, userId }: Owner,
  { toolId, connector }: Pick<CredentialTarget, 'toolId' | 'connector'>,
): Promise<StoredAccount | undefined> {
  try {
    const stored = await vault.read({ tenant, userId, toolId, connectorId: connector.id });
    if (stored === undefined) return undefined;
    const { state, savedAt } = stored;
    const credential = stored.credential.reveal();
    if (credential.kind === 'withheld') return undefined;
    return { state: state === 'usable' ? 'connected' : state, savedAt, ...grantOf(credential) };
  } catch (error) {
    // No call can use a credential that cannot be opened.
    if (error instanceof SealError) return { state: 'reconnect_required', scopes: [] };
    throw error;
  }
}

function grantOf(credential: Credential): Pick<StoredAccount, 'scopes' | 'renews' | 'managed'> {
  if (credential.kind !== 'oauth2') return { scopes: [] };
  const { scope = '', refreshToken, managed } = credential;
  const scopes = scope.split(' ').filter((one) => one !== '');
  return managed ? { scopes, managed } : { scopes, renews: refreshToken !== undefined };
}
