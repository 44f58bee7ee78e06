/** The number of the last change in each bucket, by the bucket's tag. */
export type NumbersByTag = ReadonlyMap<string, number>;

/** Finds out where changes were missed, by the numbers that each bucket of a tenant counts. */
export interface ToldNumbers {
  /** Begins with what was told by now. */
  begin(told: NumbersByTag): void;
  /** A change has come. False where changes before it have not. */
  add(tag: string, number: number): boolean;
  /** The numbers of the changes that have come. */
  last(): NumbersByTag;
  /**
   * Compares what was told by now. `before`: what had come when that was asked for. A change may still be on its way, so that it is missed
   * where it has not come at the next comparison. False where changes were missed.
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
      // What has come since is not missed.
      last = new Map([...told].map(([tag, number]) => [tag, Math.max(number, last.get(tag) ?? 0)]));
    },
    add(tag, number) {
      // Told before the begin, and late.
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
