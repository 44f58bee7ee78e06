import type { Owner } from '@parley/shared/domain/ids';
import type { ConnectorKeep } from '../connectors/connector.ts';

/** Somebody who proved who they are, by the names that questions use. */
export interface Person extends Owner {
  /** What the sign-in calls them, to show to themselves. */
  readonly name: string;
}

/** The way out to a sign-in. */
export interface SignInStart {
  readonly url: string;
  /** At least 128 random bits, by which the way back is found. */
  readonly state: string;
  /** Kept sealed on the server until then. */
  readonly keep: ConnectorKeep;
}

export interface SignInFailure {
  readonly type: 'failed';
  /** One sentence for logs. */
  readonly detail: string;
  readonly providerError?: string;
}

export type SignInResult = { readonly type: 'signed-in'; readonly person: Person } | SignInFailure;

/** People sign in at a provider, and come back. */
export interface ProviderIdentity {
  readonly type: 'provider';
  /** Who signs them in, for people. */
  readonly organisation: string;
  /** `anew`: whoever is signed in there already is not taken for granted. Nothing while the provider is away. */
  begin(options: { readonly anew: boolean }): Promise<SignInStart | undefined>;
  /** Never rejects. `url` is where the browser came back; only its query counts. */
  finish(url: string, keep: ConnectorKeep): Promise<SignInResult>;
}

/** Development: people are who they say they are. */
export interface TypedIdentity {
  readonly type: 'typed';
  person(typed: string): Person | undefined;
}

/**
 * Nobody signs in here: a backend of the deployer says afterwards who it was, with that person's own token. Until then
 * nothing that the browser got is usable, and nothing it said is recorded.
 */
export interface BoundIdentity {
  readonly type: 'bound';
  /** Where the browser goes to be known, with `?session=`. */
  readonly url: string;
}

/** How the hosted pages know who is before them. */
export type Identity = ProviderIdentity | TypedIdentity | BoundIdentity;
