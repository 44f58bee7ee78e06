import type { Owner } from '@parley/core/domain/ids';
import type { OAuthCredential } from '@parley/shared/domain/credential';
import type { CallbackState } from '../../accounts/connector.ts';
import type { Company } from '../../accounts/oauth/company.ts';

/** An authenticated person, by the tenant and user id that questions use. */
export interface Person extends Owner {
  /** Display name from the sign-in, shown only to that person. */
  readonly name: string;
}

/** A redirect to the sign-in of a provider. */
interface SignInStart {
  readonly url: string;
  /** At least 128 random bits, with which the flow is found on return. */
  readonly state: string;
  /** Sealed and stored on the server until the return. */
  readonly callbackState: CallbackState;
}

export interface SignInFailure {
  readonly type: 'failed';
  /** One sentence for logs. */
  readonly detail: string;
  readonly providerError?: string;
}

/** A person who has signed in. `signIn` can connect the person's accounts; absent if it connects none. */
export interface SignedIn {
  readonly type: 'signed-in';
  readonly person: Person;
  readonly signIn?: OAuthCredential;
}

export type SignInResult = SignedIn | SignInFailure;

/** People sign in at a provider, which redirects them back. */
export interface ProviderIdentity {
  readonly type: 'provider';
  /** Display name of the provider. */
  readonly organisation: string;
  /** Connects the accounts of people who have signed in. */
  readonly company: Company;
  /** Never rejects. `anew` makes the provider ask again even if a person is signed in there. */
  begin(options: { readonly anew: boolean }): Promise<SignInStart | SignInFailure>;
  /** Never rejects. `url` is the address to which the browser returned; only its query counts. */
  finish(url: string, callbackState: CallbackState): Promise<SignInResult>;
}

/** Development only: a typed user id is accepted without proof. */
export interface TypedIdentity {
  readonly type: 'typed';
  person(typed: string): Person | undefined;
}

/**
 * Session binding: people do not sign in here. Afterwards the deployer's backend reports the person, with the person's own
 * token. Until then, no credential of the browser can be used and no answer of it is recorded.
 */
export interface BoundIdentity {
  readonly type: 'bound';
  /** The deployer's page that identifies the person. It gets the parameter `session`. */
  readonly url: string;
}

/** How the hosted pages identify the person. */
export type Identity = ProviderIdentity | TypedIdentity | BoundIdentity;
