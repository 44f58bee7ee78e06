import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';

/** The credentials of people in the form that agents need. They are in clear text only in the headers of a call. */
export interface Credentials {
  /**
   * The headers to send with a call, refreshed if necessary. `rejected` is the version that the tool's server refused; it is
   * not presented again. Throws `unavailable` while the store is unavailable.
   */
  present(ref: CredentialRef, rejected?: number): Promise<Presentation>;
  /** Obtains these scopes for the account if no question is needed for them. Otherwise does nothing. */
  widen(ref: CredentialRef, scope: string): Promise<void>;
  /** Records that the service no longer accepts a version, so that the person has to connect again. */
  refused(ref: CredentialRef, version: number): Promise<void>;
  /**
   * Makes the credential from the question's connect page usable, and completes the owner's other open questions for the
   * account. Does nothing if there is no such credential, or when repeated.
   */
  promote(ref: CredentialRef, elicitationId: string): Promise<void>;
  /** Completes all open questions of the owner for this account if it is usable. Throws `unavailable`. */
  completeOpen(ref: CredentialRef): Promise<void>;
}
