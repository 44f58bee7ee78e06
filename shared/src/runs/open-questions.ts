import { isParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import type { PauseRecord, Run, RunRef } from '../domain/runs/run.ts';
import type { Engine, SeenStored } from '../elicitations/engine.ts';
import { openPages } from '../elicitations/open-pages.ts';

/** The withdrawal reason of a question whose turn was stopped or failed. */
export const RUN_STOPPED = 'run_stopped';
/** The withdrawal reason of a question that its asker no longer needs, while its turn continues or after it has finished. */
export const NOT_NEEDED = 'withdrawn_by_asker';

/**
 * Withdraws every open question and approval of a turn, including those of its delegates. Their waiters then return.
 * Repeatable. Throws `unavailable`.
 */
export async function withdrawOfTurn(
  engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>,
  { tenant, userId, conversationId, streamRequestId }: RunRef,
  reason = RUN_STOPPED,
): Promise<void> {
  const owner = { tenant, userId };
  const pages = openPages((request) => engine.openRecords(request), { owner, conversationId });
  for await (const { records, now } of pages) {
    const ofTurn = records.filter(({ row }) => row.definition.streamRequestId === streamRequestId);
    // The page already contains the rows, so each withdrawal costs only one commit.
    await Promise.all(
      ofTurn.map((record) => withdraw(engine, tenant, record.row.id, { seen: { ...record, now }, reason })),
    );
  }
}

/**
 * Withdraws the questions for which one run waits according to its record, but not those of its delegates. Repeatable. Throws
 * `unavailable`.
 */
export async function withdrawOfRun(
  engine: Pick<Engine, 'withdrawRecord'>,
  { tenant, pauses }: Pick<Run, 'tenant' | 'pauses'>,
): Promise<void> {
  await Promise.all(openPauses(pauses).map(({ elicitationId }) => withdraw(engine, tenant, elicitationId)));
}

/** Withdraws one question, unless it has ended. Throws `unavailable`. */
export async function withdraw(
  engine: Pick<Engine, 'withdrawRecord'>,
  tenant: StreamRef['tenant'],
  id: string,
  { seen, reason = RUN_STOPPED }: { readonly seen?: SeenStored; readonly reason?: string } = {},
): Promise<void> {
  try {
    const caller = { kind: 'service', tenant } as const;
    await engine.withdrawRecord({ caller, id, reason, ...(seen !== undefined && { seen }) });
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
  }
}

/** The waits that had not ended when the run was last written. */
export function openPauses(pauses: readonly PauseRecord[]): PauseRecord[] {
  return pauses.filter(({ resumedAt }) => resumedAt === undefined);
}
