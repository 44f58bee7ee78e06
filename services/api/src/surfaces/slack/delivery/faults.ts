import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import type { SlackDeliveryDeps } from './deps.ts';

/** The meaning of a failed Web API call for its delivery. */
type SlackFault =
  /** Nothing was posted or changed. Try again after this time. */
  | { readonly type: 'limited'; readonly retryAfterMs: number }
  /** Slack could not be reached, or failed. A message may have been posted. */
  | { readonly type: 'unavailable' }
  /** The call was not made, because the time of its delivery is over. */
  | { readonly type: 'over' }
  /** The installation has ended. */
  | { readonly type: 'revoked' }
  /** Slack refuses this call permanently. `code` is Slack's error code. */
  | { readonly type: 'refused'; readonly code: string };

/** The call was not made, because the time of its delivery is over. */
export class DeliveryOverError extends Error {}

const REVOKED = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'org_login_required',
]);
const PASSING = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'ratelimited',
  'team_added_to_org',
]);

/** Classifies an error of `@slack/web-api` by its stable codes. */
export function faultOf(error: unknown): SlackFault {
  if (error instanceof DeliveryOverError) return { type: 'over' };
  const { code, retryAfter, data } = error as {
    readonly code?: string;
    readonly retryAfter?: number;
    readonly data?: { readonly error?: string };
  };
  if (code === 'slack_webapi_rate_limited_error')
    return { type: 'limited', retryAfterMs: Math.max(1, retryAfter ?? 1) * 1_000 };
  const word = data?.error;
  if (code !== 'slack_webapi_platform_error' || word === undefined || PASSING.has(word))
    return { type: 'unavailable' };
  return REVOKED.has(word) ? { type: 'revoked' } : { type: 'refused', code: word };
}

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;

/** When a delivery is repeated after a fault; `done` if it can never succeed. */
export function resultOf(fault: SlackFault, attempt: number): OutboxResult {
  switch (fault.type) {
    case 'limited':
      return { deferInMs: fault.retryAfterMs, failure: { code: 'limited' } };
    case 'over':
      return { deferInMs: 0 };
    case 'unavailable':
      return {
        retryInMs: Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(attempt - 1, 6)),
        failure: { code: 'unavailable' },
      };
    default:
      return 'done';
  }
}

/** The result of a delivery after a failed call of Slack. Throws all other errors. */
export function failed(
  deps: Pick<SlackDeliveryDeps, 'onRefused'>,
  error: unknown,
  delivery: string,
  attempt: number,
): OutboxResult {
  if (!isSlackError(error) && !(error instanceof DeliveryOverError)) throw error;
  const fault = faultOf(error);
  if (fault.type === 'refused') deps.onRefused(delivery, fault.code);
  return resultOf(fault, attempt);
}

function isSlackError(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).startsWith('slack_webapi_');
}
