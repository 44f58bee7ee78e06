/**
 * The calls to a company's sign-in provider after a person has signed in. The sign-in itself is in `pages/identity`, its
 * storage in `managed/sign-ins.ts`.
 */

import type { OAuthCredential } from '@parley/shared/domain/credential';
import { type Configuration, genericGrantRequest, refreshTokenGrant, tokenRevocation } from 'openid-client';
import { type CredentialFailure, credentialFailure, type Refreshed } from '../connector.ts';
import { faultOfIdJag, type GrantTarget, ID_JAG } from './id-jag.ts';
import { faultOf } from './oauth2-errors.ts';

/** An assertion about a person for one authorization server (ID-JAG). It must never be logged. */
export interface GrantedAssertion {
  readonly type: 'granted';
  readonly assertion: string;
}

/** The provider of a company sign-in, for a person who has signed in. No method rejects. */
export interface Company {
  /** A current ID token. After the signal is aborted, no request for one leaves. */
  refresh(signIn: OAuthCredential, signal: AbortSignal): Promise<Refreshed | CredentialFailure>;
  /** Exchanges the ID token for an assertion (RFC 8693). `invalid_grant`: the provider refuses it. */
  exchange(signIn: OAuthCredential, target: GrantTarget): Promise<GrantedAssertion | CredentialFailure>;
  /** Best effort: ends the sign-in. */
  revoke(signIn: OAuthCredential): Promise<void>;
}

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

/** The tokens of a sign-in that are kept. Only the ID token can be exchanged. */
export interface SignInTokens {
  readonly id_token?: string | undefined;
  readonly refresh_token?: string | undefined;
}

/** A sign-in as it is stored: with the ID token in the place of the access token. Undefined if there is no ID token. */
export function signInOf(
  { id_token: idToken, refresh_token: refreshToken }: SignInTokens,
  { exp }: { readonly exp: number },
): OAuthCredential | undefined {
  if (idToken === undefined) return undefined;
  return {
    kind: 'oauth2',
    accessToken: idToken,
    tokenType: ID_TOKEN,
    expiresAt: exp * 1000,
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

/** A company's sign-in provider. `source` loads the provider's metadata. */
export function createCompany(source: () => Promise<Configuration | { readonly type: 'failed' }>): Company {
  return {
    async refresh(signIn, signal) {
      const { refreshToken } = signIn;
      if (refreshToken === undefined) return credentialFailure('invalid_grant', 'there is no refresh token');
      const server = await source();
      if ('type' in server || signal.aborted)
        return credentialFailure('unavailable', 'the metadata of the sign-in cannot be had');
      try {
        const tokens = await refreshTokenGrant(server, refreshToken);
        const claims = tokens.claims();
        // OpenID Connect Core, 12.2: the new ID token must be about the same person.
        const fresh = claims?.sub === subjectOf(signIn) ? signInOf(tokens, claims ?? { exp: 0 }) : undefined;
        return fresh === undefined
          ? credentialFailure('invalid_grant', 'the sign-in was renewed without an ID token of its person')
          : { type: 'refreshed', credential: { refreshToken, ...fresh } };
      } catch (error) {
        const { kind, providerError, isDefinite } = faultOf(error);
        return isDefinite
          ? credentialFailure('invalid_grant', 'the sign-in has ended at its provider', providerError)
          : credentialFailure('unavailable', `the sign-in was not renewed (${kind})`, providerError);
      }
    },

    async exchange(signIn, target) {
      const server = await source();
      if ('type' in server)
        return credentialFailure('unavailable', 'the metadata of the sign-in cannot be had');
      const { audience, resource, scopes } = target;
      try {
        const reply = await genericGrantRequest(server, TOKEN_EXCHANGE, {
          requested_token_type: ID_JAG,
          audience,
          resource,
          ...(scopes.length > 0 && { scope: scopes.join(' ') }),
          subject_token: signIn.accessToken,
          subject_token_type: ID_TOKEN,
        });
        const { access_token: assertion, issued_token_type: type } = reply;
        if (type !== ID_JAG)
          return credentialFailure('invalid_grant', 'the sign-in gave a token of another type');
        const fault = faultOfIdJag(assertion, server.serverMetadata().issuer, target, Date.now());
        return fault === undefined
          ? { type: 'granted', assertion }
          : credentialFailure('invalid_grant', fault);
      } catch (error) {
        const { kind, providerError } = faultOf(error);
        return kind === 'unavailable'
          ? credentialFailure('unavailable', 'the sign-in gave no assertion', providerError)
          : credentialFailure('invalid_grant', `the sign-in gives no assertion (${kind})`, providerError);
      }
    },

    async revoke({ refreshToken }) {
      const server = await source();
      if (refreshToken === undefined || 'type' in server) return;
      if (server.serverMetadata().revocation_endpoint === undefined) return;
      await tokenRevocation(server, refreshToken, { token_type_hint: 'refresh_token' }).catch(
        () => undefined,
      );
    },
  };
}

/** The subject of a stored ID token, which was verified when it was received. */
function subjectOf({ accessToken }: OAuthCredential): unknown {
  const payload = Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString('utf8');
  return (JSON.parse(payload) as { readonly sub?: unknown }).sub;
}
