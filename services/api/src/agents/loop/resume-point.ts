import type { StreamRef } from '@parley/shared/domain/ids';
import type { Run } from '@parley/shared/domain/runs/run';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { createBudget } from './budget.ts';
import { type Checkpoint, checkpointOf } from './checkpoint.ts';

export interface ResumePointDeps {
  readonly runs: Pick<Runs, 'read'>;
  readonly onFault: (error: unknown) => void;
}

/**
 * Where a run stands that this pod goes on with. What delegates used that ended within its open round is only in their
 * own records; where those cannot be read it goes uncounted.
 */
export async function resumePoint({ runs, onFault }: ResumePointDeps, run: Run): Promise<Checkpoint> {
  const from = checkpointOf(run);
  const budget = createBudget(Number.POSITIVE_INFINITY);
  budget.spend(from.used);
  try {
    for (const stream of endedDelegates(run, from)) {
      const { run: delegate } = await retryWhileUnavailable(() => runs.read(stream));
      budget.spend(delegate?.steps.at(-1)?.used ?? {});
    }
  } catch (error) {
    onFault(error);
  }
  return { ...from, used: budget.used ?? {} };
}

function endedDelegates({ tenant, userId }: Run, { round }: Checkpoint): StreamRef[] {
  return (round?.calls ?? []).flatMap(({ before }) =>
    before?.run === undefined || before.state === 'dispatched'
      ? []
      : [{ tenant, userId, streamRequestId: before.run }],
  );
}
