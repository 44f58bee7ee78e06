import type { PendingReport } from '../../ports/elicitations/audit.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups } from '../client/in-groups.ts';
import { BUCKETS, deadlinesKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';

/** Makes the count of the deadline indexes, which calls one script for each group of buckets. */
export function createPendingCount(
  redis: Commands,
  onError?: (error: unknown) => void,
): () => Promise<PendingReport> {
  const pendingScript = loadScript(redis, 'audit/pending', onError);

  async function countGroup(buckets: readonly number[]) {
    const reply = (await pendingScript(buckets.map(deadlinesKey), [])) as [number, number, string];
    // A group has one reply, which the first of its buckets carries, so that it is counted once.
    return buckets.map((_, at) => ({ status: 'fulfilled', value: at === 0 ? [reply] : [] }) as const);
  }

  return async () => {
    const groups = await inGroups(redis, BUCKETS, (bucket) => bucket, countGroup);
    let [open, overdueMs] = [0, 0];
    for (const group of groups) {
      if (group.status === 'rejected') throw group.reason;
      for (const [now, count, earliest] of group.value) {
        open += count;
        if (earliest !== '') overdueMs = Math.max(overdueMs, now - Number(earliest));
      }
    }
    return { open, overdueMs };
  };
}
