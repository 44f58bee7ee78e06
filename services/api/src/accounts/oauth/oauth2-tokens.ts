import type { OAuthCredential } from '@parley/shared/domain/credential';
import type { TokenEndpointResponse } from 'openid-client';
import { isHeaderSafe } from './secret-text.ts';

/** The grant by a signed assertion (RFC 7523). */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

interface TokenContext {
  /** Scopes to assume when the server does not name them: those asked for, or those held before (RFC 6749 5.1). */
  readonly scopes: readonly string[];
  /** The refresh token to keep when the server sends no new one. */
  readonly refreshToken?: string;
  /** The key with which the request was proven (DPoP): the tokens may be bound to it. */
  readonly proofKey?: string;
  /** Ms since 1970. */
  readonly nowMs: number;
}

/** The credential in a token response, or nothing when it could not be presented. */
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

/** The scopes in a list; some servers put commas where the standard has blanks. */
export function scopesOf(list: string): string[] {
  return list.split(/[\s,]+/u).filter((scope) => scope !== '');
}
