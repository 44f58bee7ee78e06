import { type Elicitation, isOpen } from '../elicitation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The time until the deadline in ms, by the server's clock if there is a server; undefined without a deadline. */
export function remainingMs(
  view: Elicitation | undefined,
  clock: { now(): number } = Date,
): number | undefined {
  if (view?.expiresAt === undefined || !isOpen(view)) return undefined;
  const left = Date.parse(view.expiresAt) - clock.now();
  return Number.isNaN(left) ? undefined : Math.max(0, left);
}

/** The remaining times that are announced, in ms. */
const MARKS = [0, MINUTE, 5 * MINUTE] as const;
type CountdownMark = (typeof MARKS)[number];

/** The mark that was passed between two readings of the remaining time, if any; the lowest if there are several. */
export function markPassed(before: number | undefined, left: number | undefined): CountdownMark | undefined {
  if (before === undefined || left === undefined) return undefined;
  return MARKS.find((mark) => before > mark && left <= mark);
}

/** When the displayed countdown next changes, in ms: after a second within the last hour, otherwise after a minute. */
export function nextChange(left: number): number {
  return (left % (left > HOUR ? MINUTE : SECOND)) + 20;
}
