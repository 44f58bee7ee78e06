import type { StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { Run } from '@parley/shared/domain/runs/run';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { createBudget } from '../run/budget.ts';
import { type Checkpoint, checkpointOf } from './checkpoint.ts';

interface ReadCheckpointDeps {
  readonly runs: Pick<Runs, 'read'>;
  readonly onFault: (error: unknown) => void;
}

/**
 * The checkpoint of a run that this pod continues, including the tokens of delegates that ended within the unfinished step.
 * Only the delegates' own records contain these tokens; a record that cannot be read is not counted.
 */
export async function readCheckpoint({ runs, onFault }: ReadCheckpointDeps, run: Run): Promise<Checkpoint> {
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
