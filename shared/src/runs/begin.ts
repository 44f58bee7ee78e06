import { ParleyError } from '../domain/errors.ts';
import type { BeginResult, NewRun, Runs } from '../ports/runs/runs.ts';
import type { Recovery } from './recover.ts';

// A run that ends between the attempt to begin and the check makes one more attempt worthwhile.
const ATTEMPTS_MAX = 5;

export interface BeginDeps {
  readonly runs: Pick<Runs, 'begin'>;
  readonly recovery: Pick<Recovery, 'isRunning'>;
}

/**
 * Begins a run, or finds the one that an earlier request with the same key began. Throws `turn_running` while another
 * run of the conversation runs (an orphaned one is offered to all pods), `idempotency_mismatch` and `unavailable`.
 */
export async function beginRun(
  { runs, recovery }: BeginDeps,
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
    if (await recovery.isRunning({ ...run, streamRequestId: result.streamRequestId })) break;
  }
  throw new ParleyError('turn_running', 'A turn is running in this conversation; wait for it or stop it.');
}
