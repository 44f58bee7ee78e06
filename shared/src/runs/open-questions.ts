import { isParleyError } from '../domain/errors.ts';
import type { StreamRef } from '../domain/ids.ts';
import type { PauseRecord, Run, RunRef } from '../domain/runs/run.ts';
import type { Seen } from '../elicitations/caller.ts';
import type { Engine } from '../elicitations/engine.ts';
import { openPages } from '../elicitations/open-pages.ts';

const REASON = 'run_stopped';

/**
 * Withdraws every open question of a turn: those of its own run and those of its delegates. Their waiters return.
 * Repeatable. Throws `unavailable`.
 */
export async function withdrawOfTurn(
  engine: Pick<Engine, 'list' | 'withdraw'>,
  { tenant, userId, conversationId, streamRequestId }: RunRef,
): Promise<void> {
  const pages = openPages((request) => engine.list(request), { owner: { tenant, userId }, conversationId });
  for await (const { rows, now } of pages) {
    const ofTurn = rows.filter(({ definition }) => definition.streamRequestId === streamRequestId);
    // The page has the rows: each withdrawal is one commit.
    await Promise.all(ofTurn.map((row) => withdraw(engine, tenant, row.id, { row, now })));
  }
}

/** Withdraws the questions that one run waits for by its record, not those of its delegates. Repeatable. Throws `unavailable`. */
export async function withdrawOfRun(
  engine: Pick<Engine, 'withdraw'>,
  { tenant, pauses }: Pick<Run, 'tenant' | 'pauses'>,
): Promise<void> {
  await Promise.all(openPauses(pauses).map(({ elicitationId }) => withdraw(engine, tenant, elicitationId)));
}

/** Withdraws one question. A question that has ended stays as it is. Throws `unavailable`. */
export async function withdraw(
  engine: Pick<Engine, 'withdraw'>,
  tenant: StreamRef['tenant'],
  id: string,
  seen?: Seen,
  reason = REASON,
): Promise<void> {
  try {
    const caller = { kind: 'service', tenant } as const;
    await engine.withdraw({ caller, id, reason, ...(seen !== undefined && { seen }) });
  } catch (error) {
    if (!isParleyError(error) || error.code === 'unavailable') throw error;
  }
}

/** The waits that had not ended when the run was last written. */
export function openPauses(pauses: readonly PauseRecord[]): PauseRecord[] {
  return pauses.filter(({ resumedAt }) => resumedAt === undefined);
}
