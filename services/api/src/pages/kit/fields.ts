/** Names of the fields that pages post, as `application/x-www-form-urlencoded`. */
export const FORM_FIELDS = {
  csrf: 'csrf',
  secret: 'secret',
  user: 'user',
  token: 'token',
  remember: 'remember',
  reason: 'reason',
  call: 'call',
  shown: 'shown',
} as const;

/** What a form of a page posts to, and the token that proves the page was ours. */
export interface FormTarget {
  /** Path on this origin. */
  readonly action: string;
  readonly csrf: string;
}
