import type { OAuthCredential } from '@parley/shared/domain/credential';
import type { TokenEndpointResponse } from 'openid-client';
import { isHeaderSafe } from './secret-text.ts';

/** The grant by a signed assertion (RFC 7523). */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

interface TokenContext {
  /** Scopes to assume if the server does not name them: the requested ones, or the previous ones (RFC 6749, 5.1). */
  readonly scopes: readonly string[];
  /** The refresh token to keep if the server sends no new one. */
  readonly refreshToken?: string;
  /** The key that proved the request (DPoP). The tokens may be bound to it. */
  readonly proofKey?: string;
  /** The present time, in ms since 1970. */
  readonly nowMs: number;
}

/** The credential in a token response; undefined if it could not be presented. */
export function credentialOf(
  tokens: TokenEndpointResponse,
  context: TokenContext,
): OAuthCredential | undefined {
  const { proofKey } = context;
  const isBound = tokens.token_type === 'dpop' && proofKey !== undefined;
  if ((tokens.token_type !== 'bearer' && !isBound) || !isHeaderSafe(tokens.access_token)) return undefined;
  const refreshToken = tokens.refresh_token ?? context.refreshToken;
  const scope = (tokens.scope === undefined ? context.scopes : scopesOf(tokens.scope)).join(' ');
  return {
    kind: 'oauth2',
    accessToken: tokens.access_token,
    tokenType: isBound ? 'DPoP' : 'Bearer',
    ...(proofKey !== undefined && { proofKey }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(tokens.expires_in !== undefined && { expiresAt: context.nowMs + tokens.expires_in * 1000 }),
    ...(scope !== '' && { scope }),
  };
}

/** The scopes in a list. Some servers separate them by commas instead of spaces. */
export function scopesOf(list: string): string[] {
  return list.split(/[\s,]+/u).filter((scope) => scope !== '');
}
