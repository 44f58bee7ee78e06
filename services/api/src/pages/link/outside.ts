import type { Owner } from '@parley/core/domain/ids';

/** An account outside of this deployment that somebody wants to use as a person here. */
interface OutsideAccount {
  /** The service, by its name for people. */
  readonly service: string;
  /** The account, as the service names it. */
  readonly account: string;
}

/** What a service reports of the browser that came back from it. */
type OutsideProof = 'same' | 'other' | 'failed';

/** A service whose accounts can be linked to people. */
export interface OutsideAccounts {
  /** The account that a link stands for; undefined when there is no such link, or no longer. */
  find(token: string): Promise<OutsideAccount | undefined>;
  /** The address at which the service identifies the person in the browser. It leads back with `state` and `code`. */
  addressOf(token: string, state: string, redirectUri: string): Promise<string>;
  /** Checks who came back from the service: `same` is the account of the link. Never rejects. */
  prove(token: string, code: string, redirectUri: string): Promise<OutsideProof>;
  /** Links the account to a person, and ends the link. Throws `user_erased` and `unavailable`. */
  link(token: string, owner: Owner): Promise<void>;
}

/** A link is 128 random bits or more. */
const TOKEN = /^[A-Za-z0-9_-]{22,64}$/;

export function isLinkToken(text: string): boolean {
  return TOKEN.test(text);
}
