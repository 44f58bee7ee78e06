/** Counts and samples lists at a bounded cost. What is computed from the samples is in the files beside this one. */

import type { ListedKind, ListRange, TenantLists } from '@parley/shared/ports/tenant-lists';

/** The number of parts of equal duration in which ended records are sampled. */
const PARTS = 10;
/** The maximum number of rows that are read of each part. A whole figure reads at most PARTS times as many of each kind. */
const ROWS_PER_PART = 50;

/** The time windows of figures. */
export const WINDOWS = ['hour', 'day'] as const;
export type Window = (typeof WINDOWS)[number];
export const WINDOW_MS: Readonly<Record<Window, number>> = { hour: 3_600_000, day: 86_400_000 };

/** An item, and how many items of its part it represents. */
export interface Weighted<Item> {
  readonly item: Item;
  readonly weight: number;
}

interface Sample<Item> {
  /** The number of entries in each range, according to the lists. */
  readonly counts: readonly number[];
  /** The items that were read in each range. */
  readonly parts: readonly (readonly Weighted<Item>[])[];
  /** True if not all items were read, so that figures from them are estimates. */
  readonly isSampled: boolean;
}

interface SampledList<Item> {
  readonly tenant: string;
  readonly kind: ListedKind;
  readonly ranges: readonly ListRange[];
  readonly load: (members: readonly string[]) => Promise<readonly (Item | undefined)[]>;
}

/**
 * Counts ranges of a list, and reads the newest rows of each. The cost is bounded, however much a tenant stores, and commits do
 * not pay for it.
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

/**
 * The ranges of records that ended within a window, in parts of equal duration, so that a busy hour does not hide quiet ones.
 */
export function endedWithin(window: Window): ListRange[] {
  const partMs = WINDOW_MS[window] / PARTS;
  return Array.from({ length: PARTS }, (_, part) => ({
    state: 'ended',
    minAgeMs: part * partMs + (part === 0 ? 0 : 1),
    maxAgeMs: (part + 1) * partMs,
  }));
}

/** Adds up weights by name and rounds the sums. Returns at most `max`, the largest first. */
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

/** The number of items that these items represent. */
export function totalOf(items: readonly Weighted<unknown>[]): number {
  return Math.round(items.reduce((sum, { weight }) => sum + weight, 0));
}

/** The value below which this share of the weights lies; undefined if there are no values. */
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
