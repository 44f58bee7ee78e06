import type { RunRef } from '../domain/runs/run.ts';
import type { RunWrite } from '../ports/runs/runs.ts';
import { type HandOverDeps, handOver } from './hand-over.ts';
import { RunDetachedError } from './interruption.ts';
import type { RunWriter } from './write.ts';

/** What a run waits for: open questions, detached runs of delegates, and a time. */
export type Waits = NonNullable<RunWrite['detach']>;

/** How a released run continues: after its waits, or at once on another pod. */
export type ReleaseKind = 'detached' | 'handed_over';

export const NO_WAITS: Waits = { questions: [], runs: [] };

/**
 * Releases an interrupted run, so that another pod continues it. It is detached until one of its waits ends if the interruption
 * is a RunDetachedError and the run does wait; otherwise it continues at once. Writes the queue first. Retries while Redis is
 * unavailable.
 */
export async function detachOrHandOver(
  deps: HandOverDeps,
  run: RunRef,
  writer: Pick<RunWriter, 'save' | 'detach' | 'term'>,
  { reason, waits }: { readonly reason: unknown; readonly waits: Waits },
): Promise<ReleaseKind> {
  const isWaiting = waits.questions.length + waits.runs.length > 0 || waits.afterMs !== undefined;
  if (reason instanceof RunDetachedError && isWaiting && (await writer.detach(waits))) return 'detached';
  await handOver(deps, run, writer);
  return 'handed_over';
}
