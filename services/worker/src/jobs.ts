import type { Engine } from '@parley/shared/elicitations/engine';
import { BACKUP_DELAY_MS } from '@parley/shared/ports/elicitations/deadlines';
import { DueJobData, type Processors } from '@parley/shared/ports/jobs';
import type { Activity } from './activity.ts';

// How many elicitations one job expires in a batch.
const EXPIRE_BATCH = 100;

export interface JobsDeps {
  readonly engine: Pick<Engine, 'expire' | 'expireDue'>;
  /** Writes the heartbeat of the timers. */
  readonly beat: () => Promise<void>;
}

/** The processors of the worker's jobs, one per kind. */
export function createJobs({ engine, beat }: JobsDeps): Processors {
  return {
    async 'expire-due'({ data, signal }) {
      const { bucket, deadline } = DueJobData.parse(data);
      const next = await engine.expireDue({
        bucket,
        batch: EXPIRE_BATCH,
        overdueMs: BACKUP_DELAY_MS,
        signal,
      });
      // This job ran too early by the Redis clock, or was stopped. It retries itself, because no other job can be added under
      // its id.
      return next?.deadline === deadline
        ? { retryInMs: Math.max(0, next.delayMs + BACKUP_DELAY_MS) }
        : undefined;
    },
    async expire({ id }) {
      const result = await engine.expire(id);
      return result.type === 'early' ? { retryInMs: result.remainingMs } : undefined;
    },
    async canary() {
      await beat();
      return undefined;
    },
  };
}

/** The same processors, which record their jobs while these run. */
export function notedJobs(processors: Processors, { during }: Pick<Activity, 'during'>): Processors {
  const noted = Object.entries(processors).map(([name, process]): [string, Processors[keyof Processors]] => [
    name,
    (call) => during(name, () => process(call)),
  ]);
  return Object.fromEntries(noted) as Processors;
}
