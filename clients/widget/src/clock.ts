/** An estimate of the server's clock, which decides deadlines. All times are in ms. */
interface ServerClock {
  /** The time on the server's clock; the browser's own time while that is unknown. */
  now(): number;
  /**
   * Adjusts the clock by a `serverTime` (ISO 8601). With the round trip of its reply, the clock is set to it. Without, the time
   * may be old, for example from a replayed stream, so it is only a lower bound.
   */
  note(serverTime: string | undefined, roundTripMs?: number): void;
}

/** Creates a clock. `wall` is the browser's own clock, which continues while the machine sleeps but may be wrong. */
export function createServerClock(wall: () => number = Date.now): ServerClock {
  let offset: number | undefined;
  return {
    now: () => wall() + (offset ?? 0),
    note(serverTime, roundTripMs) {
      const at = Date.parse(serverTime ?? '');
      if (Number.isNaN(at)) return;
      if (roundTripMs !== undefined) offset = at + roundTripMs / 2 - wall();
      else offset = Math.max(offset ?? Number.NEGATIVE_INFINITY, at - wall());
    },
  };
}
