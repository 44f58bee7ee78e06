const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Pauses between the attempts at a webhook, in ms: the schedule that Standard Webhooks recommends. */
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

/** After so many attempts a webhook is dead. */
export const WEBHOOK_ATTEMPTS_MAX = WEBHOOK_PAUSES_MS.length + 1;

// What failed together must not come back together.
const JITTER = 0.1;

// Time in which nobody delivers anything, on top of the schedule.
const OUTAGE_MS = 48 * HOUR;

/** How long an elicitation must stay for its webhook to be tried to the end, in ms: every pause at its longest. */
export const WEBHOOK_KEEP_MS = Math.ceil(
  WEBHOOK_PAUSES_MS.reduce((sum, _, at) => sum + longestPause(at) * (1 + JITTER), OUTAGE_MS),
);

export interface PauseInput {
  /** The attempt that failed; the first is 1. */
  readonly attempt: number;
  /** What the receiver asked for (`Retry-After`), in ms. */
  readonly retryAfterMs?: number | undefined;
  /** 0 to 1, drawn anew for each pause. */
  readonly random: number;
}

/**
 * How long to wait after a failed attempt, in ms; nothing when it was the last. A receiver may ask for a longer pause
 * than the schedule has, up to the one that would follow, and never gets a shorter one.
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
