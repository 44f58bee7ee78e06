/** The clock that decides deadlines, as far as it is known here. All times are in ms. */
export interface ServerClock {
  /** Now on the server's clock; on the browser's own until the server's is known. */
  now(): number;
  /**
   * Learns from a `serverTime` (ISO 8601). With the round trip of the reply it came in, it sets the clock. Without,
   * it may be old, say of a replayed stream: the server's clock is then known to be at least there.
   */
  note(serverTime: string | undefined, roundTripMs?: number): void;
}

/** Makes a clock. `wall` is the browser's own, which goes on while the machine sleeps, and may be wrong. */
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
