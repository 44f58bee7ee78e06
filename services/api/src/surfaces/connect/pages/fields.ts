/** Names of the fields that pages post, as `application/x-www-form-urlencoded`. */
export const FORM_FIELDS = {
  csrf: 'csrf',
  secret: 'secret',
  user: 'user',
  token: 'token',
  remember: 'remember',
  reason: 'reason',
} as const;
