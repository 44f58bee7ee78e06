import { ParleyError, type QuotaCode } from '../domain/errors.ts';
import type { ChatQuota, ReachedQuota } from '../domain/runs/commands.ts';
import type { BeginResult, NewRun, Runs } from '../ports/runs/runs.ts';
import type { Recovery } from './recover.ts';

// A run that ends between the attempt to begin and the check makes one more attempt worthwhile.
const ATTEMPTS_MAX = 5;

export interface BeginDeps {
  readonly runs: Pick<Runs, 'begin'>;
  readonly recovery: Pick<Recovery, 'isRunning'>;
  /** Called with the limit for which the run was not begun. */
  readonly onRefused: (limit: `${ReachedQuota['of']}-${ChatQuota}`) => void;
}

/**
 * Begins a run, or finds the one that an earlier request with the same key began. Throws `turn_running` while another
 * run of the conversation runs (an orphaned one is offered to all pods), `idempotency_mismatch`, `unavailable`, and the
 * error of a quota that is used up.
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

// A client should not wait for longer than a day without asking again.
const RETRY_SECONDS_MAX = 86_400;
const TURN_RETRY_SECONDS = 5;

const QUOTA_ERRORS: Readonly<Record<ChatQuota, { readonly code: QuotaCode; readonly message: string }>> = {
  turns: { code: 'turn_quota', message: 'Too many turns run at once; wait until one ends, or stop one.' },
  tokens: { code: 'token_quota', message: 'The tokens of this day are used up; try again later.' },
  conversations: {
    code: 'conversation_quota',
    message: 'Too many conversations are stored; continue one of them, or try again later.',
  },
  storage: {
    code: 'storage_quota',
    message: 'The stored chats have reached their size limit; try again later.',
  },
};

function quotaError({ quota, retryInMs }: ReachedQuota): ParleyError {
  const { code, message } = QUOTA_ERRORS[quota];
  const seconds = quota === 'turns' ? TURN_RETRY_SECONDS : Math.ceil(retryInMs / 1000);
  return new ParleyError(code, message, {
    retryAfterSeconds: Math.min(RETRY_SECONDS_MAX, Math.max(1, seconds)),
  });
}
