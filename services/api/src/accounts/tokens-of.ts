import type { OAuthCredential } from '@parley/shared/domain/credential';
import { InvalidGrantError } from '@parley/shared/vault/refresh';
import type { CredentialFailure, Refreshed } from './connector.ts';

/**
 * The new tokens, for the vault. Throws InvalidGrantError if no tokens can be obtained, and another error for a temporary
 * failure.
 */
export function tokensOf(result: Refreshed | CredentialFailure): OAuthCredential {
  if (result.type === 'refreshed' && result.credential.kind === 'oauth2') return result.credential;
  if (result.type !== 'failed') throw new InvalidGrantError();
  const { code, detail, providerError } = result;
  const reason = providerError === undefined ? detail : `${detail}: ${providerError}`;
  throw code === 'unavailable' ? new Error(reason) : new InvalidGrantError(reason);
}
