import { faultOfUserId } from '@parley/core/domain/text';
import type { CallbackState } from '../../accounts/connector.ts';
import { type CodeFlowOptions, createCodeFlow } from '../identity/code-flow.ts';
import type { ProviderIdentity, SignInFailure } from '../identity/identity.ts';
import { nameOf, scopesFor, userIdOf } from '../identity/oidc.ts';
import { claimAt, OPERATOR_ROLES, rolesOf, type TenantRoles } from './roles.ts';

/** A person who signed in to the console, and the person's roles. */
export interface Operator {
  /** The user id, which is the same as in questions to this person. */
  readonly userId: string;
  /** Display name from the sign-in, shown only to that person. */
  readonly name: string;
  /** The tenants with roles; empty for a person without any. */
  readonly tenants: readonly TenantRoles[];
}

/** Operators sign in at a provider, which redirects them back. */
interface ProviderOperators extends Pick<ProviderIdentity, 'type' | 'organisation' | 'begin'> {
  /** Never rejects. */
  finish(url: string, callbackState: CallbackState): Promise<Operator | SignInFailure>;
}

/** Development only: a typed user id is accepted without proof and has every role. */
interface TypedOperators {
  readonly type: 'typed';
  operator(typed: string): Operator | undefined;
}

/** How the console identifies operators. */
export type OperatorIdentity = ProviderOperators | TypedOperators;

interface OidcOperatorOptions extends Omit<CodeFlowOptions, 'scopes' | 'wantsRenewal' | 'isEnough'> {
  readonly userClaim: string;
  readonly rolesClaim: string;
  readonly tenants: readonly string[];
}

/** Operators who sign in at the OpenID provider of the hosted pages. */
export function createOidcOperators(options: OidcOperatorOptions): OperatorIdentity {
  const { userClaim, rolesClaim, tenants } = options;
  const { organisation, begin, finish } = createCodeFlow({
    ...options,
    scopes: scopesFor(userClaim),
    isEnough: (claims) => claims[userClaim] !== undefined && claimAt(claims, rolesClaim) !== undefined,
  });
  return {
    type: 'provider',
    organisation,
    begin,
    async finish(url, callbackState) {
      const said = await finish(url, callbackState);
      if ('type' in said) return said;
      const userId = userIdOf(userClaim, said.claims);
      if (typeof userId !== 'string') return userId;
      const roles = rolesOf(claimAt(said.claims, rolesClaim), tenants);
      return { userId, name: nameOf(said.claims) ?? userId, tenants: roles };
    },
  };
}

/** Accepts a typed user id without proof. The check of the environment forbids it in production. */
export function createTypedOperators(tenants: readonly string[]): OperatorIdentity {
  return {
    type: 'typed',
    operator(typed) {
      const userId = typed.trim();
      return userId === '' || faultOfUserId(userId) !== undefined
        ? undefined
        : { userId, name: userId, tenants: rolesOf(OPERATOR_ROLES, tenants) };
    },
  };
}
