import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { Backend } from '@parley/shared/ports/backend';
import type { Runs, RunWrite, WriteResult } from '@parley/shared/ports/runs/runs';

const COALESCE_MS = 25;

/**
 * Parts of a backend that append the events of turns, but keep no checkpoint and send no heartbeat: no other pod could
 * take a run over. What they save is the price of recovery.
 */
export function withoutRecovery({ runs }: Backend): Partial<Backend> {
  return {
    heartbeats: {
      beat: async () => undefined,
      leases: async () => [],
      lapsed: async () => [],
      forget: async () => undefined,
      alive: async () => true,
      connected: async () => true,
    },
    runs: { ...runs, write: withoutCheckpoints(runs) },
  };
}

/** Leaves out writes that only a checkpoint causes: their events are appended by the next write, or after a pause. */
function withoutCheckpoints(runs: Pick<Runs, 'write'>): Runs['write'] {
  const waiting = new Map<string, { events: TurnEvent[]; timer: NodeJS.Timeout }>();
  return async (run, { notes, ...write }): Promise<WriteResult> => {
    const held = waiting.get(run.streamRequestId);
    clearTimeout(held?.timer);
    waiting.delete(run.streamRequestId);
    const earlier = held?.events ?? [];
    const whole: RunWrite = {
      ...write,
      firstSeq: write.firstSeq - earlier.length,
      events: [...earlier, ...write.events],
    };
    if (notes === undefined || notes.length === 0 || write.end !== undefined) {
      return whole.events.length === 0 && write.end === undefined ? 'written' : runs.write(run, whole);
    }
    const timer = setTimeout(() => {
      waiting.delete(run.streamRequestId);
      void runs.write(run, whole);
    }, COALESCE_MS);
    waiting.set(run.streamRequestId, { events: [...whole.events], timer });
    return 'written';
  };
}
