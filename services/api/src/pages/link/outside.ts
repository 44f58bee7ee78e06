import type { Owner } from '@parley/core/domain/ids';

/** An account at another service that somebody wants to use as a person of this deployment. */
interface OutsideAccount {
  /** The service's name for people. */
  readonly service: string;
  /** The account's name at the service. */
  readonly account: string;
}

/** The service's report about the browser that returned from it. */
type OutsideProof = 'same' | 'other' | 'failed';

/** A service whose accounts can be linked to people. */
export interface OutsideAccounts {
  /** The account of a link; undefined if the link does not exist or no longer exists. */
  find(token: string): Promise<OutsideAccount | undefined>;
  /**
   * The address at which the service identifies the person in the browser. The browser returns from it with `state` and `code`.
   */
  addressOf(token: string, state: string, redirectUri: string): Promise<string>;
  /** Checks who returned from the service. `same`: it is the account of the link. Never rejects. */
  prove(token: string, code: string, redirectUri: string): Promise<OutsideProof>;
  /** Links the account to a person, and ends the link. Throws `user_erased` and `unavailable`. */
  link(token: string, owner: Owner): Promise<void>;
}

/** A link consists of at least 128 random bits. */
const TOKEN = /^[A-Za-z0-9_-]{22,64}$/;

export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}
