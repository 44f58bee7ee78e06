import type { Commands } from './connect.ts';

// A running script blocks Redis; a script with this many commits takes about a millisecond.
const GROUP_MAX = 25;

/**
 * Lets a script handle items in groups: on a Cluster those of one bucket, otherwise any. Returns the result of each item, in
 * order. If the script cannot be run, every item of its group is rejected.
 */
export async function inGroups<Item, Result>(
  { isCluster }: Pick<Commands, 'isCluster'>,
  items: readonly Item[],
  bucketAt: (item: Item) => number | undefined,
  handle: (group: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>,
): Promise<PromiseSettledResult<Result>[]> {
  const results: PromiseSettledResult<Result>[] = [];
  const handleGroup = async (indexes: readonly number[]) => {
    const group = indexes.map((index) => items[index] as Item);
    const handled = await handle(group).catch((reason: unknown) => group.map(() => rejected(reason)));
    for (const [at, index] of indexes.entries())
      results[index] = handled[at] ?? rejected(new Error('A script has replied to fewer items than it got.'));
  };
  const groups = groupsOf(items.map((item) => (isCluster ? bucketAt(item) : undefined)));
  await Promise.all(groups.map(handleGroup));
  return results;
}

/** The settled result of a synchronous call. */
export function settled<Result>(run: () => Result): PromiseSettledResult<Result> {
  try {
    return { status: 'fulfilled', value: run() };
  } catch (reason) {
    return rejected(reason);
  }
}

function rejected(reason: unknown): PromiseRejectedResult {
  return { status: 'rejected', reason };
}

/** Divides the indexes of a list into groups of one bucket. */
function groupsOf(buckets: readonly (number | undefined)[]): number[][] {
  const groups: number[][] = [];
  const open = new Map<number | undefined, number[]>();
  for (const [index, bucket] of buckets.entries()) {
    const group = open.get(bucket);
    if (group !== undefined && group.length < GROUP_MAX) {
      group.push(index);
      continue;
    }
    const next = [index];
    open.set(bucket, next);
    groups.push(next);
  }
  return groups;
}
