import { type Elicitation, isOpen } from '../elicitation.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Time left in ms, by the server's clock where there is a server; nothing when there is no deadline any more. */
export function timeLeft(view: Elicitation | undefined, clock: { now(): number } = Date): number | undefined {
  if (view?.expiresAt === undefined || !isOpen(view)) return undefined;
  const left = Date.parse(view.expiresAt) - clock.now();
  return Number.isNaN(left) ? undefined : Math.max(0, left);
}

/** The times left that are worth saying aloud, in ms. */
const MARKS = [0, MINUTE, 5 * MINUTE] as const;
export type Mark = (typeof MARKS)[number];

/** The mark that was passed between two looks at the time left, if any; the last one, where it was several. */
export function markPassed(before: number | undefined, left: number | undefined): Mark | undefined {
  if (before === undefined || left === undefined) return undefined;
  return MARKS.find((mark) => before > mark && left <= mark);
}

/** How long what is shown of the time left stays true: a second when near, else a minute. */
export function nextChange(left: number): number {
  return (left % (left > HOUR ? MINUTE : SECOND)) + 20;
}
