/**
 * Converts a discovered authorization server to an ordinary OAuth connector, and chooses the scopes. The OAuth flow itself is
 * in `connectors/oauth2.ts`.
 */

import type { Credential, OAuthCredential, OAuthGrantor } from '@parley/shared/domain/credential';
import { scopesOfList } from '@parley/shared/domain/oauth/scopes';
import type { Connector } from '../../connector.ts';
import type { BoundedFetch } from '../../oauth/bounded-fetch.ts';
import { PROOF_ALGORITHM } from '../../oauth/proof-key.ts';
import { createOAuth2Connector } from '../oauth2.ts';
import { type Discovered, textOf } from './discover.ts';
import type { RegisteredClient } from './register.ts';

/** The tokens of a discovered server, without what is sealed about the server; undefined for other credentials. */
export function grantedOf(
  credential: Credential,
): { readonly grantor: OAuthGrantor; readonly tokens: OAuthCredential } | undefined {
  if (credential.kind !== 'oauth2' || credential.grantor === undefined) return undefined;
  const { grantor, ...tokens } = credential;
  return { grantor, tokens };
}

/**
 * True if both servers support bound tokens. Many authorization servers offer DPoP although the MCP server takes bearer tokens
 * only.
 */
export function isBound({ metadata, takesBound }: Discovered): boolean {
  const { dpop_signing_alg_values_supported: algorithms } = metadata as {
    dpop_signing_alg_values_supported?: unknown;
  };
  return takesBound && Array.isArray(algorithms) && algorithms.includes(PROOF_ALGORITHM);
}

/** The OAuth connector for a discovered server. */
export function connectorOf(
  grantor: OAuthGrantor,
  { clientId, clientSecret, clientAuthentication }: Pick<OAuthGrantor, keyof RegisteredClient>,
  options: {
    readonly id: string;
    readonly redirectUri: string;
    readonly scopes: readonly string[];
    readonly allowLoopbackHttp: boolean;
    readonly timeoutMs: number;
    readonly fetch: BoundedFetch;
  },
): Connector {
  const { resource, issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = grantor;
  const { sendsIssuer, idTokenAlgorithms } = grantor;
  const { id, redirectUri, scopes, allowLoopbackHttp, timeoutMs, fetch } = options;
  return createOAuth2Connector({
    id,
    redirectUri,
    allowLoopbackHttp,
    timeoutMs,
    fetch,
    clientId,
    resource,
    scopes,
    server: {
      issuer,
      authorizationEndpoint,
      tokenEndpoint,
      sendsIssuer,
      ...(revocationEndpoint !== undefined && { revocationEndpoint }),
      ...(idTokenAlgorithms !== undefined && { idTokenAlgorithms }),
    },
    ...(clientSecret !== undefined && { clientSecret }),
    ...(clientAuthentication !== undefined && { clientAuthentication }),
    // OpenID Connect grants a refresh token only with the person's consent.
    ...(scopes.includes(OFFLINE) && { authorizationParameters: { prompt: 'consent' } }),
  });
}

const OFFLINE = 'offline_access';

/** The sealed facts about the server: the metadata that the flow and the refresh need. */
export function serverOf({ metadata, resource }: Discovered): Omit<OAuthGrantor, keyof RegisteredClient> {
  const revocationEndpoint = textOf(metadata, 'revocation_endpoint');
  const algorithms = (metadata as { id_token_signing_alg_values_supported?: unknown })
    .id_token_signing_alg_values_supported;
  return {
    issuer: metadata.issuer,
    authorizationEndpoint: metadata.authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
    sendsIssuer: metadata.authorization_response_iss_parameter_supported === true,
    resource,
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    ...(Array.isArray(algorithms) && { idTokenAlgorithms: algorithms.map(String) }),
  };
}

/**
 * The scopes to request, as the MCP specification chooses them, after those of the question. `offline_access` is added where
 * the authorization server grants refresh tokens for it.
 */
export function scopesFor(
  found: Discovered,
  configured: readonly string[] | undefined,
  asked: string | undefined,
): readonly string[] {
  const chosen = asked === undefined ? challengedScopes(found, configured) : scopesOfList(asked);
  const grantsRefresh = found.metadata.scopes_supported?.includes(OFFLINE) === true;
  return grantsRefresh && !chosen.includes(OFFLINE) ? [...chosen, OFFLINE] : chosen;
}

/** The scopes of the server's challenge; else the configured ones; else those that the server lists. */
export function challengedScopes(
  { challenged, listed = [] }: Discovered,
  configured: readonly string[] | undefined,
): readonly string[] {
  return challenged ?? configured ?? listed;
}
