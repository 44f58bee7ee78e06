/** The time that remains, for people: `9:41`, `2 h 5 min`, `3 days`. */
function remainingText(ms: number): string {
  const seconds = Math.max(Math.ceil(ms / 1_000), 0);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const hours = Math.floor(seconds / 3_600);
  if (hours < 48) return `${hours} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** The time that is left, with a blank before it, to stand behind a label. */
export type Countdown = () => string;

/** A deadline on this machine's monotonic clock: the clock of the server and of this machine may differ. */
export function createCountdown(remainingMs: number): Countdown {
  const endsAt = performance.now() + remainingMs;
  return () => ` (${remainingText(endsAt - performance.now())} left)`;
}
