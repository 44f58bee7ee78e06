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

/** The target of a page's form, and the token that proves that Parley made the page. */
export interface FormTarget {
  /** Path on this origin. */
  readonly action: string;
  readonly csrf: string;
}
