import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';

/** The credentials of people, as agents need them: never in the clear but to be sent. */
export interface Credentials {
  /**
   * What to send with a call, refreshed where it has to be. `rejected` is the version that the tool's server refused:
   * that one is not presented again. Throws `unavailable` while the store is away.
   */
  present(ref: CredentialRef, rejected?: number): Promise<Presentation>;
  /** Notes that a version is of no use any more: the person has to connect anew. */
  refused(ref: CredentialRef, version: number): Promise<void>;
  /** Makes usable what the connect page of that question has got; nothing when it is already, or when it got nothing. */
  promote(ref: CredentialRef, elicitationId: string): Promise<void>;
}
