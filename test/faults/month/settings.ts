export const TENANT = 'acme';
export const AUDIENCE = 'parley';
export const SERVICE_KEY = 'service-key-of-the-month';
/** The key that is refused from a midnight (UTC) on. */
export const ENDING_KEY = 'service-key-that-ends';
export const ACCOUNT = 'tracker-account';
/** Tokens that one user may take in a day. */
export const TOKENS_A_DAY = 1_000;
export const SLACK_APP = {
  clientId: 'slack-app',
  clientSecret: 'slack-client-secret',
  signingSecret: 'slack-signing-secret',
} as const;
/** Shorter, also with a leap, than what a model may take by default (20 min) and than what the tool of the slow agent may (an hour). */
export const MODEL_PAUSE_MS = 14 * 60_000;
export const TOOL_PAUSE_MS = 50 * 60_000;
