/** Signs people in at an OpenID provider. Who the person is for Parley is decided in `oidc.ts` and `console/identity.ts`. */

import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { z } from 'zod';
import type { CallbackState } from '../../accounts/connector.ts';
import { type Company, createCompany, type SignInTokens } from '../../accounts/oauth/company.ts';
import { faultOf, metadataFaultOf } from '../../accounts/oauth/oauth2-errors.ts';
import { createServerSource } from '../../accounts/oauth/oauth2-server.ts';
import type { ProviderIdentity, SignInFailure } from './identity.ts';

/** A client of an OpenID provider. */
export interface CodeFlowOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** The redirect URI, which is registered at the provider for this sign-in alone. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** True if refresh tokens are requested, in case the provider supports them. */
  readonly wantsRenewal?: boolean;
  /** False if an ID token lacks what the sign-in needs; the userinfo endpoint is then asked. */
  readonly isEnough: (claims: IdTokenClaims) => boolean;
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp?: boolean;
}

export type IdTokenClaims = Readonly<Record<string, unknown>>;

/** The provider's statements about a person who has signed in. */
export interface SaidClaims {
  readonly claims: IdTokenClaims;
  readonly tokens: SignInTokens;
}

/** A sign-in at an OpenID provider: code flow with PKCE, nonce, and the issuer check of RFC 9207. */
export interface CodeFlow extends Pick<ProviderIdentity, 'organisation' | 'begin'> {
  readonly company: Company;
  /** Never rejects. `url` is the address to which the browser returned; only its query counts. */
  finish(url: string, callbackState: CallbackState): Promise<SaidClaims | SignInFailure>;
}

const SignInState = z.object({
  state: z.string().min(22),
  nonce: z.string().min(22),
  verifier: z.string().min(43),
});
const OFFLINE = 'offline_access';

export function createCodeFlow(options: CodeFlowOptions): CodeFlow {
  const { issuer, clientId, clientSecret, redirectUri, scopes, wantsRenewal = false } = options;
  const { allowLoopbackHttp = false } = options;
  const load = createServerSource({
    server: { issuer },
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    allowLoopbackHttp,
    renewsIdTokens: true,
  });
  // Signatures are checked although TLS would suffice (OpenID Connect Core, 3.1.3.7), because a proxy may be in between.
  const source = () =>
    load().then(
      (server) => {
        enableNonRepudiationChecks(server);
        return server;
      },
      (error: unknown) => signInFailure(`the metadata of the sign-in ${metadataFaultOf(error).what}`),
    );

  return {
    organisation: new URL(issuer).host,
    company: createCompany(source),
    async begin({ anew }) {
      const server = await source();
      if ('type' in server) return server;
      const callbackState = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      };
      const url = buildAuthorizationUrl(server, {
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: [...scopes, ...(wantsRenewal ? renewalScopes(server) : [])].join(' '),
        state: callbackState.state,
        nonce: callbackState.nonce,
        code_challenge: await calculatePKCECodeChallenge(callbackState.verifier),
        code_challenge_method: 'S256',
        ...(anew && { prompt: 'login' }),
      });
      return { url: url.href, state: callbackState.state, callbackState };
    },
    async finish(url, callbackState) {
      const server = await source();
      return 'type' in server ? server : claimsOf(server, options, url, callbackState);
    },
  };
}

async function claimsOf(
  server: Configuration,
  { redirectUri, isEnough }: CodeFlowOptions,
  url: string,
  callbackState: CallbackState,
): Promise<SaidClaims | SignInFailure> {
  const kept = SignInState.safeParse(callbackState);
  if (!kept.success) return signInFailure('the way out to the sign-in is not known');
  // The registered address is used: behind a proxy, the address that was called may look different.
  const back = new URL(redirectUri);
  back.search = new URL(url, redirectUri).search;
  try {
    const tokens = await authorizationCodeGrant(server, back, {
      pkceCodeVerifier: kept.data.verifier,
      expectedState: kept.data.state,
      expectedNonce: kept.data.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) return signInFailure('the sign-in sent no ID token');
    if (isEnough(claims) || server.serverMetadata().userinfo_endpoint === undefined)
      return { claims, tokens };
    return {
      tokens,
      claims: { ...(await fetchUserInfo(server, tokens.access_token, claims.sub)), ...claims },
    };
  } catch (error) {
    const { kind, providerError } = faultOf(error);
    return signInFailure(`the sign-in's answer is ${kind}`, providerError);
  }
}

/** The scope for a refresh token, if the provider supports one. */
function renewalScopes(server: Configuration): readonly string[] {
  return server.serverMetadata().scopes_supported?.includes(OFFLINE) === true ? [OFFLINE] : [];
}

/** A failed sign-in, for the log. */
export function signInFailure(detail: string, providerError?: string): SignInFailure {
  return { type: 'failed', detail, ...(providerError !== undefined && { providerError }) };
}
