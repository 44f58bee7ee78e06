/** Below this a deadline is counted down by the second, see `countdown` of the strings. */
const COUNTED_MS = 10 * 60_000;
const SECOND_MS = 1_000;
/** Ages and far deadlines are told in minutes; a quarter of one keeps them true enough. */
const REST_MS = 15_000;

/** How long what the inbox says of its times stays true, in ms. Deadlines are in ms on the clock of `now`. */
export function stayTrueMs(now: number, deadlines: readonly number[]): number {
  const left = deadlines.map((deadline) => deadline - now).filter((ms) => ms > 0);
  if (left.some((ms) => ms <= COUNTED_MS)) return SECOND_MS;
  // One that is soon to be counted must not be missed by a whole pause.
  const untilCounted = left.map((ms) => ms - COUNTED_MS);
  return Math.max(SECOND_MS, Math.min(REST_MS, ...untilCounted));
}
