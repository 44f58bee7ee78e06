import type { Commands } from '../client/connect.ts';

// Redis does nothing else while a script runs: one of this many commits takes about a millisecond.
const GROUP_MAX = 25;

/**
 * Has a script handle items in groups: on a Cluster those of one bucket at a time, on any other server those of all. Returns
 * the results in the order of the items. Rejects when one group does; others may have been handled.
 */
export async function inGroups<Item, Result>(
  { isCluster }: Pick<Commands, 'isCluster'>,
  items: readonly Item[],
  bucketOf: (item: Item) => number | undefined,
  handle: (group: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const groups = groupsOf([...items.entries()], ([, item]) => (isCluster ? bucketOf(item) : undefined));
  await Promise.all(
    groups.map(async (group) => {
      const handled = await handle(group.map(([, item]) => item));
      for (const [at, result] of handled.entries()) results.set(group[at]?.[0] ?? -1, result);
    }),
  );
  return items.map((_, index) => results.get(index) as Result);
}

function groupsOf<Entry>(
  entries: readonly Entry[],
  bucketOf: (entry: Entry) => number | undefined,
): Entry[][] {
  const groups: Entry[][] = [];
  const open = new Map<number | undefined, Entry[]>();
  for (const entry of entries) {
    const bucket = bucketOf(entry);
    const group = open.get(bucket);
    if (group !== undefined && group.length < GROUP_MAX) {
      group.push(entry);
      continue;
    }
    const next = [entry];
    open.set(bucket, next);
    groups.push(next);
  }
  return groups;
}
