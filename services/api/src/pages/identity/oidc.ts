import { faultOfUserId } from '@parley/core/domain/text';
import { signInOf } from '../../accounts/oauth/company.ts';
import { isUnverified } from '../../http/token.ts';
import { type CodeFlowOptions, createCodeFlow, type IdTokenClaims, signInFailure } from './code-flow.ts';
import type { Person, ProviderIdentity, SignInFailure, SignInResult } from './identity.ts';

export interface OidcOptions extends Omit<CodeFlowOptions, 'scopes' | 'wantsRenewal' | 'isEnough'> {
  /** The claim with the userId of questions. */
  readonly userClaim: string;
  /** With one tenant, everybody belongs to it. With several, the claim `tenant` names the person's tenant. */
  readonly tenants: readonly string[];
  /**
   * True if sign-ins connect accounts. Their tokens are then kept, and refresh tokens are requested if the provider supports
   * them.
   */
  readonly connectsAccounts?: boolean;
}

const NAME_LENGTH_MAX = 100;

/** People who sign in at an OpenID provider. */
export function createOidcIdentity(options: OidcOptions): ProviderIdentity {
  const { connectsAccounts = false, userClaim } = options;
  const { organisation, company, begin, finish } = createCodeFlow({
    ...options,
    scopes: scopesFor(userClaim),
    wantsRenewal: connectsAccounts,
    isEnough: (claims) => claims[userClaim] !== undefined,
  });
  return {
    type: 'provider',
    organisation,
    company,
    begin,
    async finish(url, callbackState) {
      const said = await finish(url, callbackState);
      if ('type' in said) return said;
      const result = personOf(options, said.claims);
      const signIn = signInOf(said.tokens, { exp: Number(said.claims.exp) });
      if (result.type === 'failed' || !connectsAccounts || signIn === undefined) return result;
      return { ...result, signIn };
    },
  };
}

/** The person, by tenant and user id. Without a mapping there is no access. */
function personOf({ userClaim, tenants }: OidcOptions, claims: IdTokenClaims): SignInResult {
  const userId = userIdOf(userClaim, claims);
  if (typeof userId !== 'string') return userId;
  const tenant = tenants.length === 1 ? tenants[0] : tenants.find((one) => one === claims.tenant);
  if (tenant === undefined) return signInFailure('the sign-in names no tenant of ours');
  return { type: 'signed-in', person: { tenant, userId, name: nameOf(claims) ?? userId } satisfies Person };
}

/** The person's user id, from the configured claim. */
export function userIdOf(userClaim: string, claims: IdTokenClaims): string | SignInFailure {
  const userId = claims[userClaim];
  if (typeof userId !== 'string' || userId === '' || faultOfUserId(userId) !== undefined)
    return signInFailure(
      'the sign-in does not say who that is to us: PARLEY_CONNECT_USER_CLAIM is not there',
    );
  if (isUnverified(userClaim, claims))
    return signInFailure('the sign-in does not say that it verified the email address');
  return userId;
}

/** The scopes of a sign-in that only identifies the person. */
export function scopesFor(userClaim: string): readonly string[] {
  return ['openid', 'profile', ...(userClaim.startsWith('email') ? ['email'] : [])];
}

/** The display name that the provider gives. */
export function nameOf({ name, preferred_username: username }: IdTokenClaims): string | undefined {
  const named = [name, username].find((one) => typeof one === 'string' && one.trim() !== '');
  return typeof named === 'string' ? named.trim().slice(0, NAME_LENGTH_MAX).toWellFormed() : undefined;
}
