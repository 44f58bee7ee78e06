/** The number of the last change in each bucket, by the bucket's tag. */
export type NumbersByTag = ReadonlyMap<string, number>;

/** Detects missed changes by the numbers that each bucket of a tenant counts. */
export interface ToldNumbers {
  /** Begins with the numbers of the changes published so far. */
  begin(told: NumbersByTag): void;
  /** Records a received change. Returns false when an earlier one is missing. */
  add(tag: string, number: number): boolean;
  /** The numbers of the received changes. */
  last(): NumbersByTag;
  /**
   * Compares with `told`, the numbers published so far; `before` are the numbers that had been received when `told` was
   * requested. A change may still be on its way, so it counts as missed only if it has not come by the next comparison. Returns
   * false when changes were missed.
   */
  compare(before: NumbersByTag, told: NumbersByTag): boolean;
}

export function createToldNumbers(): ToldNumbers {
  let begun: NumbersByTag = new Map();
  let expected: NumbersByTag = new Map();
  let last = new Map<string, number>();

  return {
    begin(told) {
      begun = told;
      expected = told;
      // Changes received since the request were not missed.
      last = new Map([...told].map(([tag, number]) => [tag, Math.max(number, last.get(tag) ?? 0)]));
    },
    add(tag, number) {
      // A late change from before the beginning.
      if (number <= (begun.get(tag) ?? 0)) return true;
      const before = last.get(tag);
      last.set(tag, number);
      return before === undefined || number === before + 1;
    },
    last: () => new Map(last),
    compare(before, told) {
      const isWhole = [...told].every(
        ([tag, number]) =>
          (last.get(tag) ?? 0) >= (expected.get(tag) ?? 0) && number >= (before.get(tag) ?? 0),
      );
      expected = told;
      return isWhole;
    },
  };
}
