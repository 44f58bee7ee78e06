const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The pauses between delivery attempts, in ms, as recommended by Standard Webhooks. */
export const WEBHOOK_PAUSES_MS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** After this many failed attempts, a webhook is a dead letter. */
export const WEBHOOK_ATTEMPTS_MAX = WEBHOOK_PAUSES_MS.length + 1;

// Jitter spreads the retries of webhooks that failed at the same time.
const JITTER = 0.1;

// An allowance for outages of Parley itself, added to the schedule.
const OUTAGE_MS = 48 * HOUR;

/** How long an elicitation must be kept so that all attempts fit, even with the longest pauses, in ms. */
export const WEBHOOK_KEEP_MS = Math.ceil(
  WEBHOOK_PAUSES_MS.reduce((sum, _, at) => sum + longestPause(at) * (1 + JITTER), OUTAGE_MS),
);

interface PauseInput {
  /** The ordinal of the failed attempt, from 1. */
  readonly attempt: number;
  /** The receiver's `Retry-After`, in ms. */
  readonly retryAfterMs?: number | undefined;
  /** A new random number from 0 to 1 for each pause. */
  readonly random: number;
}

/**
 * The pause after a failed attempt, in ms; undefined after the last attempt. A receiver may request a longer pause, up to the
 * next one of the schedule, but not a shorter one.
 */
export function pauseAfter({ attempt, retryAfterMs = 0, random }: PauseInput): number | undefined {
  const at = attempt - 1;
  const planned = WEBHOOK_PAUSES_MS[at];
  if (planned === undefined) return undefined;
  const pause = Math.max(planned, Math.min(retryAfterMs, longestPause(at)));
  return Math.round(pause * (1 + JITTER * random));
}

function longestPause(at: number): number {
  return WEBHOOK_PAUSES_MS[at + 1] ?? WEBHOOK_PAUSES_MS[at] ?? 0;
}
