import type { Owner } from '@parley/core/domain/ids';
import { type CredentialRef, type OAuthCredential, SIGN_IN } from '@parley/shared/domain/credential';
import type { FreshCredentialOf } from '@parley/shared/vault/refresh';
import { SealError } from '@parley/shared/vault/seal';
import type { Vault } from '@parley/shared/vault/vault';
import { type CredentialFailure, credentialFailure } from '../connector.ts';
import { readHeld } from '../flows/held.ts';
import type { Company, GrantedAssertion } from '../oauth/company.ts';
import type { GrantTarget } from '../oauth/id-jag.ts';
import { tokensOf } from '../tokens-of.ts';

/** Gives an assertion about a person for one authorization server. */
export type GrantFor = (owner: Owner, target: GrantTarget) => Promise<GrantedAssertion | CredentialFailure>;

/**
 * The company sign-ins of people. The latest sign-in of each person is stored sealed, and every pod uses it. All methods throw
 * `unavailable`.
 */
export interface SignIns {
  /** Stores a sign-in, and replaces an earlier one. */
  save(owner: Owner, signIn: OAuthCredential): Promise<void>;
  /** When the sign-in was stored or renewed, in ms on the store's clock. Undefined if there is none or it has ended. */
  since(owner: Owner): Promise<number | undefined>;
  grantFor: GrantFor;
  /** Deletes the sign-in, and ends it at its provider where that is possible. */
  end(owner: Owner): Promise<void>;
}

interface SignInsDeps {
  readonly vault: Pick<Vault, 'read' | 'save' | 'remove'>;
  /** Renews each sign-in on one pod at a time. */
  readonly fresh: FreshCredentialOf;
  readonly company: Company;
}

/** Keeps the sign-ins in the vault, and renews them when they are needed. */
export function createSignIns({ vault, fresh, company }: SignInsDeps): SignIns {
  return {
    async save(owner, signIn) {
      await vault.save(refOf(owner), signIn);
    },
    async since(owner) {
      const held = await readHeld({ vault }, refOf(owner));
      if (held?.state !== 'usable') return undefined;
      const signIn = held.credential.reveal();
      if (signIn.kind !== 'oauth2') return undefined;
      const { refreshToken, expiresAt = 0 } = signIn;
      return refreshToken !== undefined || expiresAt > held.now ? held.savedAt : undefined;
    },
    async grantFor(owner, target) {
      const held = await freshSignIn(owner);
      if (held === 'unavailable')
        return credentialFailure('unavailable', 'the sign-in cannot be renewed now');
      if (held === undefined) return credentialFailure('invalid_grant', 'the sign-in has ended');
      return company.exchange(held, target);
    },
    async end(owner) {
      const signIn = (await vault.remove(refOf(owner)))?.reveal();
      if (signIn?.kind === 'oauth2') await company.revoke(signIn);
    },
  };

  async function freshSignIn(owner: Owner): Promise<OAuthCredential | 'unavailable' | undefined> {
    try {
      const held = await fresh(refOf(owner), async (signIn, signal) =>
        tokensOf(await company.refresh(signIn, signal)),
      );
      if (held.status === 'unavailable') return 'unavailable';
      const signIn = held.status === 'usable' ? held.credential.reveal() : undefined;
      return signIn?.kind === 'oauth2' ? signIn : undefined;
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

function refOf({ tenant, userId }: Owner): CredentialRef {
  return { tenant, userId, ...SIGN_IN };
}
