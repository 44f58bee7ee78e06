import { OPEN_STATUSES } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import type { ConversationRef, Run } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { RunContext } from '../loop/run-context.ts';

const PAGE = 200;

/**
 * Takes back what a turn still asks: whoever waits for it is roused, and nobody is asked for nothing. Throws
 * `unavailable` while Redis is away; may be repeated.
 */
export async function withdrawLeft(
  engine: Pick<Engine, 'list' | 'withdraw'>,
  { tenant, userId, conversationId }: ConversationRef,
  streamRequestId: string,
): Promise<void> {
  const caller = { kind: 'service', tenant } as const;
  const request = { owner: { tenant, userId }, conversationId, statuses: OPEN_STATUSES, limit: PAGE };
  let cursor: string | undefined;
  do {
    const page = await engine.list({ ...request, ...(cursor !== undefined && { cursor }) });
    const asked = page.rows.filter(({ definition }) => definition.streamRequestId === streamRequestId);
    await Promise.all(
      asked.map(({ id }) => engine.withdraw({ caller, id, reason: 'run_stopped' }).catch(unlessEnded)),
    );
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** Takes back what one run of a turn still waits for, as its record has it. Throws `unavailable`; may be repeated. */
export async function withdrawAsked(
  engine: Pick<Engine, 'withdraw'>,
  { tenant, pauses }: Pick<Run, 'tenant' | 'pauses'>,
): Promise<void> {
  const caller = { kind: 'service', tenant } as const;
  const open = pauses.filter(({ resumedAt }) => resumedAt === undefined);
  await Promise.all(
    open.map(({ elicitationId: id }) =>
      engine.withdraw({ caller, id, reason: 'run_stopped' }).catch(unlessEnded),
    ),
  );
}

/** Ends what a call had asked on another pod and, decided without it, asks no more; the record says so. */
export async function withdrawInherited(
  { engine, run, writer, inheritedPauses }: Pick<RunContext, 'engine' | 'run' | 'writer' | 'inheritedPauses'>,
  toolCallId: string,
): Promise<void> {
  const caller = { kind: 'service', tenant: run.tenant } as const;
  for (const pause of [...inheritedPauses.values()].filter((one) => one.toolCallId === toolCallId)) {
    const { elicitationId: id } = pause;
    inheritedPauses.delete(id);
    await retryWhileUnavailable(() =>
      engine.withdraw({ caller, id, reason: 'run_stopped' }).catch(unlessEnded),
    );
    await writer.save([
      { type: 'pause', pause: { ...pause, resumedAt: pause.pausedAt, outcome: 'passed_over' } },
    ]);
  }
}

function unlessEnded(error: unknown): void {
  if (isParleyError(error) && error.code !== 'unavailable') return;
  throw error;
}
