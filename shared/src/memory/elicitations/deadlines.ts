import { BUCKET_COUNT } from '@parley/core/domain/ids';
import type { ArmedDeadline } from '../../ports/elicitations/deadlines.ts';

/** The deadlines of all open rows, by bucket. */
export interface MemoryDeadlines {
  /** Adds a deadline to the index. If no deadline is armed, or only a later or passed one, this one is armed and returned. */
  add(bucket: number, id: string, deadline: number, now: number): ArmedDeadline | undefined;
  /** Moves a deadline in the index to a later time. A timer armed for the earlier time stays armed. */
  move(bucket: number, id: string, deadline: number): void;
  remove(bucket: number, id: string): void;
  /** The ids whose deadlines have passed, earliest first. */
  due(bucket: number, now: number): string[];
  /** See `Elicitations.occupied`. */
  occupied(): number[];
  /** See `Elicitations.arm`. */
  arm(bucket: number, skip: number, now: number): ArmedDeadline | undefined;
}

interface Bucket {
  readonly listed: Map<string, number>;
  armed: { readonly deadline: number; readonly elicitationId: string } | undefined;
}

/** The deadline index of each bucket in one process, and its armed deadline. */
export function createMemoryDeadlines(): MemoryDeadlines {
  const buckets: readonly Bucket[] = Array.from({ length: BUCKET_COUNT }, () => ({
    listed: new Map(),
    armed: undefined,
  }));

  function bucketAt(bucket: number): Bucket {
    const found = buckets[bucket];
    if (found === undefined) throw new RangeError(`There is no bucket ${bucket}.`);
    return found;
  }

  return {
    add(bucket, elicitationId, deadline, now) {
      const state = bucketAt(bucket);
      state.listed.set(elicitationId, deadline);
      const { armed } = state;
      if (armed !== undefined && armed.deadline > now && armed.deadline <= deadline) return undefined;
      state.armed = { deadline, elicitationId };
      return { bucket, ...state.armed, delayMs: deadline - now };
    },
    move(bucket, id, deadline) {
      bucketAt(bucket).listed.set(id, deadline);
    },
    remove(bucket, id) {
      bucketAt(bucket).listed.delete(id);
    },
    due(bucket, now) {
      return sorted(bucketAt(bucket).listed)
        .filter(([, deadline]) => deadline <= now)
        .map(([id]) => id);
    },
    occupied: () => buckets.flatMap(({ listed }, bucket) => (listed.size > 0 ? [bucket] : [])),
    arm(bucket, skip, now) {
      const state = bucketAt(bucket);
      const [elicitationId, deadline] = sorted(state.listed)[skip] ?? [];
      const first =
        elicitationId === undefined || deadline === undefined ? undefined : { deadline, elicitationId };
      const { armed } = state;
      const stays =
        armed !== undefined &&
        armed.deadline > now &&
        (first === undefined || armed.deadline <= first.deadline);
      if (!stays) state.armed = first;
      return state.armed && { bucket, ...state.armed, delayMs: state.armed.deadline - now };
    },
  };
}

function sorted(listed: ReadonlyMap<string, number>): [id: string, deadline: number][] {
  return [...listed].sort(([, a], [, b]) => a - b);
}
