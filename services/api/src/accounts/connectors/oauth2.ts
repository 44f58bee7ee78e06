/**
 * The connector for OAuth 2.1 providers: begins flows, refreshes and revokes. The callback is in `oauth2-finish.ts`, the
 * connection to the server in `oauth/oauth2-server.ts`.
 */

import type { Credential, OAuthCredential } from '@parley/shared/domain/credential';
import {
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client';
import {
  type Connector,
  type ConnectorFailure,
  type CredentialFailure,
  credentialFailure,
  failure,
  foreignCredential,
  type Redirect,
  type Refreshed,
} from '../connector.ts';
import { faultOf, metadataFaultOf } from '../oauth/oauth2-errors.ts';
import { checkOAuth2Options, type OAuth2Options } from '../oauth/oauth2-options.ts';
import { createServerSource } from '../oauth/oauth2-server.ts';
import { credentialOf, scopesOf } from '../oauth/oauth2-tokens.ts';
import { provingWith } from '../oauth/proof-key.ts';
import { isHeaderSafe } from '../oauth/secret-text.ts';
import { finishAuthorization } from './oauth2-finish.ts';

/**
 * Authorization code flow with PKCE (OAuth 2.1), against a discovered or a configured server. Throws a `TypeError` for options
 * that can never work.
 */
export function createOAuth2Connector(options: OAuth2Options): Connector {
  checkOAuth2Options(options);
  const source = createServerSource(options);
  const extra: Record<string, string> = options.resource === undefined ? {} : { resource: options.resource };

  return {
    id: options.id,
    kind: 'oauth2',

    async describe() {
      const server = await source().catch(() => undefined);
      const endpoint = server?.serverMetadata().authorization_endpoint;
      return { scopes: options.scopes, ...(endpoint !== undefined && { origin: new URL(endpoint).origin }) };
    },

    async begin() {
      return source().then((server) => beginAuthorization(options, server, extra), metadataFailure);
    },

    async finish(input, callbackState) {
      if (input.type !== 'callback') return failure('bad_state', 'not a callback');
      return source().then(
        (server) => finishAuthorization({ server, options, extra, url: input.url, callbackState }),
        metadataFailure,
      );
    },

    async refresh(credential, signal) {
      if (!isOwn(credential)) return foreignCredential();
      const server = await source().catch(metadataFailure);
      if (signal?.aborted) return credentialFailure('unavailable', 'the metadata came too late');
      return 'detail' in server
        ? credentialFailure('unavailable', server.detail)
        : refresh(server, credential, extra);
    },

    async revoke(credential) {
      if (!isOwn(credential)) return 'unsupported';
      const server = await source().catch(() => undefined);
      return server === undefined ? 'unavailable' : revoke(server, credential);
    },

    headersFor: async (credential) => headersOf(credential),
  };
}

/** False for tokens of a discovered server, which the configured server must never receive. */
function isOwn(credential: Credential): credential is OAuthCredential {
  return credential.kind === 'oauth2' && credential.grantor === undefined;
}

async function beginAuthorization(
  options: OAuth2Options,
  server: Configuration,
  extra: Record<string, string>,
): Promise<Redirect> {
  const verifier = randomPKCECodeVerifier();
  const state = randomState();
  const nonce = options.scopes.includes('openid') ? randomNonce() : undefined;
  const { issuer } = server.serverMetadata();
  const url = buildAuthorizationUrl(server, {
    ...options.authorizationParameters,
    ...extra,
    response_type: 'code',
    client_id: options.clientId,
    redirect_uri: options.redirectUri,
    ...(options.scopes.length > 0 && { scope: options.scopes.join(' ') }),
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(nonce !== undefined && { nonce }),
  });
  const { id: connectorId, redirectUri } = options;
  const callbackState = {
    connectorId,
    state,
    verifier,
    issuer,
    redirectUri,
    ...(nonce !== undefined && { nonce }),
  };
  return { type: 'redirect', url: url.href, state, callbackState };
}

async function refresh(
  server: Configuration,
  credential: OAuthCredential,
  extra: Record<string, string>,
): Promise<Refreshed | CredentialFailure> {
  const { refreshToken } = credential;
  if (refreshToken === undefined) return credentialFailure('invalid_grant', 'there is no refresh token');
  try {
    const { proofKey } = credential;
    const tokens = await refreshTokenGrant(server, refreshToken, extra, await provingWith(server, proofKey));
    const scopes = scopesOf(credential.scope ?? '');
    const bound = proofKey !== undefined && { proofKey };
    const fresh = credentialOf(tokens, { scopes, refreshToken, nowMs: Date.now(), ...bound });
    // The old refresh token may already be invalid, so waiting would not help.
    return fresh === undefined
      ? credentialFailure('invalid_grant', 'the refreshed token is not one to present')
      : { type: 'refreshed', credential: fresh };
  } catch (error) {
    const { kind, providerError, isDefinite } = faultOf(error);
    return isDefinite
      ? credentialFailure('invalid_grant', 'the authorization server no longer honours it', providerError)
      : credentialFailure('unavailable', `the refresh came to nothing (${kind})`, providerError);
  }
}

/** The refresh token is revoked first: most servers then revoke the access tokens, too. */
async function revoke(
  server: Configuration,
  { refreshToken, accessToken }: OAuthCredential,
): Promise<'revoked' | 'unsupported' | 'unavailable'> {
  if (server.serverMetadata().revocation_endpoint === undefined) return 'unsupported';
  const tokens = [
    ...(refreshToken === undefined ? [] : [{ token: refreshToken, hint: 'refresh_token' }]),
    { token: accessToken, hint: 'access_token' },
  ];
  let failed = false;
  for (const { token, hint } of tokens) {
    await tokenRevocation(server, token, { token_type_hint: hint }).catch(() => {
      failed = true;
    });
  }
  return failed ? 'unavailable' : 'revoked';
}

async function headersOf(credential: Credential): ReturnType<Connector['headersFor']> {
  if (!isOwn(credential)) return foreignCredential();
  const { accessToken, expiresAt, tokenType, proofKey } = credential;
  const isBound = tokenType === 'DPoP' && proofKey !== undefined;
  if (!isHeaderSafe(accessToken))
    return credentialFailure('invalid_grant', 'the token is not one to present');
  return {
    type: 'presented',
    headers: { authorization: `${isBound ? 'DPoP' : 'Bearer'} ${accessToken}` },
    ...(isBound && { proofKey }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

function metadataFailure(error: unknown): ConnectorFailure {
  const { isOtherIssuer, what } = metadataFaultOf(error);
  return failure(
    isOtherIssuer ? 'bad_issuer' : 'unavailable',
    `the metadata of the authorization server ${what}`,
  );
}
