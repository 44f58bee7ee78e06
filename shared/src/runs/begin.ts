import { ParleyError, type QuotaCode } from '@parley/core/domain/errors';
import type { ChatQuota, ReachedQuota } from '../domain/runs/commands.ts';
import type { BeginResult, NewRun, Runs } from '../ports/runs/runs.ts';
import type { Recovery } from './recover.ts';

// A run that ends between the attempt and the check makes another attempt worthwhile.
const ATTEMPTS_MAX = 5;

interface BeginDeps {
  readonly runs: Pick<Runs, 'begin'>;
  readonly recovery: Pick<Recovery, 'isRunning'>;
  /** Called with the quota that refused the run. */
  readonly onRefused: (limit: `${ReachedQuota['of']}-${ChatQuota}`) => void;
}

/**
 * Begins a run, or finds the one that an earlier request with the same key began. Throws `turn_running` while another run of
 * the conversation is running (an orphaned one is offered to all pods), `idempotency_mismatch`, `unavailable`, or the error of
 * an exhausted quota.
 */
export async function beginRun(
  { runs, recovery, onRefused }: BeginDeps,
  run: NewRun,
): Promise<BeginResult & { type: 'begun' | 'known' }> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const result = await runs.begin(run);
    if (result.type === 'begun' || result.type === 'known') return result;
    if (result.type === 'mismatch') {
      throw new ParleyError(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another message; use a new key.',
      );
    }
    if (result.type === 'over-quota') {
      onRefused(`${result.of}-${result.quota}`);
      throw quotaError(result);
    }
    if (await recovery.isRunning({ ...run, streamRequestId: result.streamRequestId })) break;
  }
  throw new ParleyError('turn_running', 'A turn is running in this conversation; wait for it or stop it.');
}

// After at most a day, a client should ask again.
const RETRY_SECONDS_MAX = 86_400;
const TURN_RETRY_SECONDS = 5;

const CODES: Readonly<Record<ChatQuota, QuotaCode>> = {
  turns: 'turn_quota',
  tokens: 'token_quota',
  conversations: 'conversation_quota',
  storage: 'storage_quota',
};

function quotaError(reached: ReachedQuota): ParleyError {
  const { of, quota, retryInMs } = reached;
  const isWait = of === 'user' && quota === 'turns';
  const seconds = isWait ? TURN_RETRY_SECONDS : Math.ceil(retryInMs / 1000);
  return new ParleyError(CODES[quota], messageOf(reached), {
    retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)),
  });
}

/** A sentence about the exhausted quota: whose it is, and until when. */
function messageOf({ of, quota, retryInMs }: ReachedQuota): string {
  const until = `until ${new Date(Date.now() + retryInMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  if (of === 'tenant')
    return `${TENANT_DAYS[quota]} of this day are used up for all users of your tenant, ${until}.`;
  switch (quota) {
    case 'turns':
      return 'You have too many turns that run at once; wait until one ends, or stop one.';
    case 'tokens':
      return `Your tokens of this day are used up, ${until}.`;
    case 'conversations':
      return 'You have too many stored conversations; continue one of them, or try again later.';
    case 'storage':
      return 'Your stored chats have reached their size limit; try again later.';
  }
}

const TENANT_DAYS: Readonly<Record<ChatQuota, string>> = {
  turns: 'The turns',
  tokens: 'The tokens',
  conversations: 'The conversations',
  storage: 'The bytes that chats may store',
};
