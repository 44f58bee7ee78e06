import type { StreamRef } from '@parley/core/domain/ids';
import { type Run, UNOWNED } from '../../domain/runs/run.ts';
import type { Runs } from '../../ports/runs/runs.ts';

const ATTEMPTS_MAX = 5;

/** A running turn that was taken from its pod. The pod can no longer write it. */
export interface TakenTurn {
  readonly run: Run;
  readonly term: number;
}

/** Takes a turn from its pod; undefined when the turn is not running. Throws `unavailable`. */
export async function takeTurn(
  runs: Pick<Runs, 'standing' | 'takeOver' | 'read'>,
  stream: StreamRef,
): Promise<TakenTurn | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return undefined;
    const term =
      standing.owner === UNOWNED ? standing.term : await runs.takeOver(stream, standing.term, UNOWNED);
    // Another pod changed the owner first, so the turn is read again.
    if (term === undefined) continue;
    const { run } = await runs.read(stream);
    return run && { run, term };
  }
  return undefined;
}

/** Ends a turn that was taken from its pod. If another pod has claimed it since, removing its record ends it. */
export async function endTurn(runs: Pick<Runs, 'write'>, { run, term }: TakenTurn): Promise<void> {
  await runs.write(run, {
    term,
    firstSeq: run.writerSeq + 1,
    events: [{ type: 'turn-finished', reason: 'stopped' }],
    end: { status: 'stopped', messages: [] },
  });
}
