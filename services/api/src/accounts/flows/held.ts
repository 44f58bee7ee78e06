import type { CredentialRef } from '@parley/shared/domain/credential';
import { SealError } from '@parley/shared/vault/seal';
import type { OpenedCredential, Vault } from '@parley/shared/vault/vault';

/** The stored credential. Undefined if there is none or no key opens it, so that a new one replaces it. */
export async function readHeld(
  { vault }: { readonly vault: Pick<Vault, 'read'> },
  ref: CredentialRef,
): Promise<OpenedCredential | undefined> {
  try {
    return await vault.read(ref);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}
