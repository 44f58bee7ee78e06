const DISTANCE_MAX = 2;

/** The candidate that a mistyped word most likely means. Undefined when none is similar. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const same = candidates.find((candidate) => plain(candidate) === plain(word));
  if (same !== undefined) return same;
  // In a short word, two different letters are too many for a guess.
  const distanceMax = Math.min(DISTANCE_MAX, Math.floor(word.length / 3));
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(plain(word), plain(candidate)) }))
    .filter(({ distance }) => distance <= distanceMax)
    .sort((a, b) => a.distance - b.distance);
  return best?.candidate;
}

/** The word without case, dashes and underscores, which people confuse most often. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_.]/g, '');
}

/** Number of letters to add, drop, change or swap with a neighbour (optimal string alignment). */
function distanceOf(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const steps = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        ...(isSwap && row > 1 && column > 1 ? [(before[column - 2] ?? 0) + 1] : []),
      ];
      current.push(Math.min(...steps));
    }
    before = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
