/** A remaining time in readable form: `9:41`, `2 h 5 min`, `3 days`. */
function remainingText(ms: number): string {
  const seconds = Math.max(Math.ceil(ms / 1_000), 0);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const hours = Math.floor(seconds / 3_600);
  if (hours < 48) return `${hours} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** The remaining time with a leading blank, to be placed after a label. */
export type Countdown = () => string;

/** Counts down on this machine's monotonic clock, because the server's clock may differ from that of this machine. */
export function createCountdown(remainingMs: number): Countdown {
  const endsAt = performance.now() + remainingMs;
  return () => ` (${remainingText(endsAt - performance.now())} left)`;
}
