import { readApprovalEvent } from '@parley/core/domain/approvals/events';
import { isElicitationEvent, type StreamEvent } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import { z } from 'zod';
import type { AdminDeps } from './deps.ts';

// The maximum number of events that one read examines. A turn that writes for a long time has more.
const ENTRIES_MAX = 5_000;

/** A change of a record, without the texts of people. */
export const HistoryEvent = z.object({
  at: z.iso.datetime().describe('On the Redis clock.'),
  event: z.string(),
  status: z.string(),
  revision: z.int(),
  action: z.string().optional(),
  decision: z.string().optional(),
  reason: z.string().optional(),
  surface: z.string().optional(),
  expiresAt: z.iso.datetime().optional().describe('The deadline, where the change moved it.'),
});
export type HistoryEvent = z.infer<typeof HistoryEvent>;

/** All changes of a record in the feed of its stream request, in order, without the texts of people. */
export async function readHistory(
  { engine }: Pick<AdminDeps, 'engine'>,
  { tenant, userId, streamRequestId }: StreamRef,
  id: string,
): Promise<{ readonly history: readonly HistoryEvent[]; readonly isWhole: boolean }> {
  const history: HistoryEvent[] = [];
  let read = 0;
  for await (const { at, event } of engine.replay({ tenant, userId, streamRequestId })) {
    read += 1;
    const change = changeOf(event, id);
    if (change !== undefined) history.push({ at: new Date(at).toISOString(), ...change });
    if (read === ENTRIES_MAX) return { history, isWhole: false };
  }
  return { history, isWhole: true };
}

function changeOf(event: StreamEvent, id: string): Omit<HistoryEvent, 'at'> | undefined {
  if (isElicitationEvent(event)) {
    if (event.elicitationId !== id) return undefined;
    const { type, status, revision, action, reason, surface, expiresAt } = event;
    return {
      event: type,
      status,
      revision,
      ...(action !== undefined && { action }),
      ...(reason !== undefined && { reason }),
      ...(surface !== undefined && { surface }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
  }
  const approval = readApprovalEvent(event);
  if (approval?.approvalId !== id) return undefined;
  const { type, status, revision, decision, surface, expiresAt } = approval;
  return {
    event: type,
    status,
    revision,
    ...(decision !== undefined && { decision }),
    ...(surface !== undefined && { surface }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
