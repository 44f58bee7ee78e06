import { faultOfUserId } from '@parley/core/domain/text';
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
import { createCompany, type SignInTokens, signInOf } from '../../accounts/oauth/company.ts';
import { faultOf, metadataFaultOf } from '../../accounts/oauth/oauth2-errors.ts';
import { createServerSource } from '../../accounts/oauth/oauth2-server.ts';
import { isUnverified } from '../../http/token.ts';
import type { Person, ProviderIdentity, SignInFailure, SignInResult } from './identity.ts';

export interface OidcOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  /** Registered there for the sign-in alone. */
  readonly redirectUri: string;
  /** The claim that is the userId of questions. */
  readonly userClaim: string;
  /** With one, everybody is of that tenant; with several, the claim `tenant` says of which. */
  readonly tenants: readonly string[];
  /** True where sign-ins connect accounts: then their tokens are wanted, and refresh tokens where the provider has them. */
  readonly connectsAccounts?: boolean;
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp?: boolean;
}

type IdTokenClaims = Readonly<Record<string, unknown>>;

const SignInState = z.object({
  state: z.string().min(22),
  nonce: z.string().min(22),
  verifier: z.string().min(43),
});
const NAME_LENGTH_MAX = 100;
const OFFLINE = 'offline_access';

/** Sign-in at an OpenID provider: code flow with PKCE, nonce, and the issuer check of RFC 9207. */
export function createOidcIdentity(options: OidcOptions): ProviderIdentity {
  const { issuer, clientId, clientSecret, redirectUri, allowLoopbackHttp = false } = options;
  const { connectsAccounts = false } = options;
  const scopes = ['openid', 'profile', ...(options.userClaim.startsWith('email') ? ['email'] : [])];
  const load = createServerSource({
    server: { issuer },
    clientId,
    ...(clientSecret !== undefined && { clientSecret }),
    allowLoopbackHttp,
    renewsIdTokens: true,
  });
  // Signatures are checked although TLS would do (OpenID Connect Core, 3.1.3.7): a proxy may stand in between.
  const source = () =>
    load().then(
      (server) => {
        enableNonRepudiationChecks(server);
        return server;
      },
      (error: unknown) => failed(`the metadata of the sign-in ${metadataFaultOf(error).what}`),
    );

  return {
    type: 'provider',
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
        scope: [...scopes, ...(connectsAccounts ? renewalScopes(server) : [])].join(' '),
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
      if ('type' in server) return server;
      const claims = await claimsOf(server, options, url, callbackState);
      if ('type' in claims) return claims;
      const result = personOf(options, claims.claims);
      const signIn = signInOf(claims.tokens, { exp: Number(claims.claims.exp) });
      if (result.type === 'failed' || !connectsAccounts || signIn === undefined) return result;
      return { ...result, signIn };
    },
  };
}

async function claimsOf(
  server: Configuration,
  { redirectUri, userClaim }: OidcOptions,
  url: string,
  callbackState: CallbackState,
): Promise<{ readonly claims: IdTokenClaims; readonly tokens: SignInTokens } | SignInFailure> {
  const kept = SignInState.safeParse(callbackState);
  if (!kept.success) return failed('the way out to the sign-in is not known');
  // Behind a proxy the address that was called may look different from the one that is registered.
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
    if (claims === undefined) return failed('the sign-in sent no ID token');
    if (claims[userClaim] !== undefined || server.serverMetadata().userinfo_endpoint === undefined)
      return { claims, tokens };
    return {
      tokens,
      claims: { ...(await fetchUserInfo(server, tokens.access_token, claims.sub)), ...claims },
    };
  } catch (error) {
    const { kind, providerError } = faultOf(error);
    return failed(`the sign-in's answer is ${kind}`, providerError);
  }
}

/** The scope for a refresh token, where the provider has one. */
function renewalScopes(server: Configuration): readonly string[] {
  return server.serverMetadata().scopes_supported?.includes(OFFLINE) === true ? [OFFLINE] : [];
}

/** Who that is to us. No mapping, no entry. */
function personOf({ userClaim, tenants }: OidcOptions, claims: IdTokenClaims): SignInResult {
  const userId = claims[userClaim];
  if (typeof userId !== 'string' || userId === '' || faultOfUserId(userId) !== undefined)
    return failed('the sign-in does not say who that is to us: PARLEY_CONNECT_USER_CLAIM is not there');
  if (isUnverified(userClaim, claims))
    return failed('the sign-in does not say that it verified the email address');
  const tenant = tenants.length === 1 ? tenants[0] : tenants.find((one) => one === claims.tenant);
  if (tenant === undefined) return failed('the sign-in names no tenant of ours');
  return { type: 'signed-in', person: { tenant, userId, name: nameOf(claims) ?? userId } satisfies Person };
}

function nameOf({ name, preferred_username: username }: IdTokenClaims): string | undefined {
  const named = [name, username].find((one) => typeof one === 'string' && one.trim() !== '');
  return typeof named === 'string' ? named.trim().slice(0, NAME_LENGTH_MAX).toWellFormed() : undefined;
}

function failed(detail: string, providerError?: string): SignInFailure {
  return { type: 'failed', detail, ...(providerError !== undefined && { providerError }) };
}
