import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';

/** The credentials of people, as agents need them: in the clear only as the headers of a call. */
export interface Credentials {
  /**
   * The headers to send with a call, refreshed if necessary. `rejected` is the version that the tool's server refused; it
   * is not presented again. Throws `unavailable` while the store is unavailable.
   */
  present(ref: CredentialRef, rejected?: number): Promise<Presentation>;
  /** Obtains these scopes for the account where nobody has to be asked for them; otherwise it has no effect. */
  widen(ref: CredentialRef, scope: string): Promise<void>;
  /** Records that a version is no longer accepted, so that the person has to connect again. */
  refused(ref: CredentialRef, version: number): Promise<void>;
  /**
   * Makes the credential usable that the question's connect page obtained, and completes the owner's other open questions
   * for the account. No effect when there is none, or when repeated.
   */
  promote(ref: CredentialRef, elicitationId: string): Promise<void>;
  /** Completes all open questions of the owner for this account if it is usable. Throws `unavailable`. */
  completeOpen(ref: CredentialRef): Promise<void>;
}
