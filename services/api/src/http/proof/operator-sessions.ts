import type { VerifiedCaller } from '../auth.ts';
import type { RequestHead } from '../route.ts';

/** The sessions of operators who signed in to the console. */
export interface OperatorSessions {
  /**
   * The operator of a request, in the tenant that the request names. Throws `unauthenticated` without a session. Throws
   * `forbidden` for a page of another origin, for a tenant or a change without a role, and for a change without the session's
   * token.
   */
  admit(head: RequestHead, changes: boolean): Promise<VerifiedCaller>;
}
