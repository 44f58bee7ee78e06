import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { NOT_NEEDED, withdraw } from '@parley/shared/runs/open-questions';
import type { RunContext } from '../run/run-context.ts';
import { isSamplingOf } from '../run/sample-request.ts';
import { isWithinCall } from './approvals/place.ts';

/**
 * Withdraws the questions that a call asked on its previous pod and did not ask again on this one, and records that these waits
 * have ended. Retries while Redis is unavailable.
 */
export async function withdrawInherited(
  { engine, run, writer, inheritedPauses }: Pick<RunContext, 'engine' | 'run' | 'writer' | 'inheritedPauses'>,
  toolCallId: string,
): Promise<void> {
  const isOwn = (id: string | undefined) =>
    id === toolCallId || isSamplingOf(toolCallId, id) || isWithinCall(toolCallId, id);
  for (const pause of [...inheritedPauses.values()].filter((each) => isOwn(each.toolCallId))) {
    const { elicitationId } = pause;
    inheritedPauses.delete(elicitationId);
    await retryWhileUnavailable(() => withdraw(engine, run.tenant, elicitationId, { reason: NOT_NEEDED }));
    const over = { ...pause, resumedAt: pause.pausedAt, outcome: 'passed_over' };
    await writer.save([{ type: 'pause', pause: over }]);
  }
}
