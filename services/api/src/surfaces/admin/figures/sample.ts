import type { ListedKind, ListRange, TenantLists } from '@parley/shared/ports/tenant-lists';

/** The number of parts of equal time in which ended records are sampled. */
const PARTS = 10;
/** The most rows that are read of each part. A whole figure reads PARTS times as many of each kind. */
const ROWS_PER_PART = 50;

/** The windows of time over which figures are made. */
export const WINDOWS = ['hour', 'day'] as const;
export type Window = (typeof WINDOWS)[number];
export const WINDOW_MS: Readonly<Record<Window, number>> = { hour: 3_600_000, day: 86_400_000 };

/** An item, and the number of items of its part for which it stands. */
export interface Weighted<Item> {
  readonly item: Item;
  readonly weight: number;
}

interface Sample<Item> {
  /** The number of entries in each range, as the lists count them. */
  readonly counts: readonly number[];
  /** The items that were read of each range. */
  readonly parts: readonly (readonly Weighted<Item>[])[];
  /** True: not all items were read, so that figures from them are estimates. */
  readonly isSampled: boolean;
}

interface SampledList<Item> {
  readonly tenant: string;
  readonly kind: ListedKind;
  readonly ranges: readonly ListRange[];
  readonly load: (members: readonly string[]) => Promise<readonly (Item | undefined)[]>;
}

/**
 * Counts ranges of a list, and reads some rows of each, the newest ones. The cost has a bound, however much a tenant
 * stores, and no commit pays for it.
 */
export async function sampleList<Item>(
  lists: TenantLists,
  { tenant, kind, ranges, load }: SampledList<Item>,
): Promise<Sample<Item>> {
  const counts = await lists.count(tenant, kind, ranges);
  const parts = await Promise.all(
    ranges.map(async (range, at) => {
      const count = counts[at] ?? 0;
      if (count === 0) return [];
      const places = await lists.slice({ tenant, kind, order: 'newest', limit: ROWS_PER_PART, ...range });
      const items = (await load(places.map(({ member }) => member))).filter((item) => item !== undefined);
      const weight = count > places.length ? count / Math.max(1, items.length) : 1;
      return items.map((item) => ({ item, weight }));
    }),
  );
  return { counts, parts, isSampled: counts.some((count) => count > ROWS_PER_PART) };
}

/** The ranges of what ended within a window, in parts of equal time, so that a busy hour does not hide the quiet ones. */
export function endedWithin(window: Window): ListRange[] {
  const partMs = WINDOW_MS[window] / PARTS;
  return Array.from({ length: PARTS }, (_, part) => ({
    state: 'ended',
    minAgeMs: part * partMs + (part === 0 ? 0 : 1),
    maxAgeMs: (part + 1) * partMs,
  }));
}

/** Adds up weights by name, and rounds the sums. The largest come first, at most `max`. */
export function sumsBy<Item>(
  items: readonly Weighted<Item>[],
  nameOf: (item: Item) => string | undefined,
  max: number,
): [name: string, sum: number, of: Weighted<Item>[]][] {
  const groups = new Map<string, Weighted<Item>[]>();
  for (const one of items) {
    const name = nameOf(one.item);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups]
    .map(([name, of]): [string, number, Weighted<Item>[]] => [name, totalOf(of), of])
    .sort(([a, sum], [b, other]) => other - sum || (a < b ? -1 : 1))
    .slice(0, max);
}

/** The number of items for which these items stand. */
export function totalOf(items: readonly Weighted<unknown>[]): number {
  return Math.round(items.reduce((sum, { weight }) => sum + weight, 0));
}

/** The value below which this share of the weights lies; undefined without values. */
export function quantile(values: readonly Weighted<number>[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a.item - b.item);
  const target = share * sorted.reduce((sum, { weight }) => sum + weight, 0);
  let passed = 0;
  for (const { item, weight } of sorted) {
    passed += weight;
    if (passed >= target) return item;
  }
  return undefined;
}
