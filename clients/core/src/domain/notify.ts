/**
 * The rules and times of notices about open questions and approvals, as pure functions. Sending notices is the job of the
 * channels.
 */

import { z } from 'zod';

const TimeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
  .describe('Hours and minutes, such as `22:00`.');

const TimeZone = z
  .string()
  .refine(isTimeZone, 'must be a time zone such as Europe/Berlin')
  .describe('IANA time zone, such as `Europe/Berlin`.');

/** How a channel notifies the person of open questions and approvals. */
export const NotifyRules = z.strictObject({
  channel: z.literal('slack').describe('The channel.'),
  afterSeconds: z
    .int()
    .min(0)
    .max(604_800)
    .default(60)
    .describe(
      'A question or an approval goes to the channel once it has been open for so long and its person has not seen it.',
    ),
  remind: z
    .strictObject({
      afterSeconds: z.int().min(10).max(604_800).describe('Time between two reminders.'),
      atMost: z.int().min(1).max(10).default(1).describe('Number of reminders.'),
    })
    .optional()
    .describe('Reminders of an open question, in its thread.'),
  escalate: z
    .strictObject({
      afterSeconds: z.int().min(10).max(604_800).describe('How long the question has been open by then.'),
      to: z
        .string()
        .regex(/^[A-Z0-9]{1,32}$/)
        .describe('Id of the Slack user or channel that learns that the question is open. It cannot answer.'),
    })
    .optional(),
  quietHours: z
    .strictObject({ from: TimeOfDay, to: TimeOfDay, timeZone: TimeZone.default('UTC') })
    .optional()
    .describe('Nothing is sent in this time of each day; what would be, is sent at its end.'),
});
export type NotifyRules = z.infer<typeof NotifyRules>;

// The first notice about a record that the person has seen comes this many times later.
const SEEN_FACTOR = 10;

/** When an open record was created and when it expires, in ms. */
interface OpenTime {
  readonly openedAt: number;
  readonly expiresAt: number;
}

/** Until when it matters that a record was seen: half of its time. Pure. */
export function seenUntil({ openedAt, expiresAt }: OpenTime): number {
  return openedAt + (expiresAt - openedAt) / 2;
}

/**
 * When the channel first notifies the person of an open record, outside of quiet hours; now, if that time has passed. If the
 * person has seen the record, the first notice comes at the time of its first reminder or escalation, or else after ten times
 * the usual time, but by half of its time at the latest. Pure.
 */
export function firstNoticeAt(
  rules: NotifyRules,
  { openedAt, expiresAt, now, isSeen }: OpenTime & { readonly now: number; readonly isSeen: boolean },
): number {
  const afterMs = rules.afterSeconds * 1_000;
  const dueAt = openedAt + afterMs;
  const planned = nextNotice(rules, { openedAt, now: openedAt, reminders: 0, isEscalated: false })?.at;
  const later = Math.min(planned ?? openedAt + SEEN_FACTOR * afterMs, seenUntil({ openedAt, expiresAt }));
  const at = isSeen ? Math.max(dueAt, later) : dueAt;
  return endOfQuietHours(rules, Math.max(at, now));
}

/** What has already been sent about an open record. Times are in ms. */
interface NotifyState {
  readonly openedAt: number;
  readonly now: number;
  readonly reminders: number;
  readonly isEscalated: boolean;
}

/** The next notice and its time; it is sent at once if `at` has passed. */
type NextNotice =
  | { readonly type: 'reminder'; readonly at: number }
  | { readonly type: 'escalation'; readonly at: number; readonly to: string };

/** The earlier of the next reminder and the escalation, outside of quiet hours; undefined if nothing remains. Pure. */
export function nextNotice(rules: NotifyRules, state: NotifyState): NextNotice | undefined {
  const { remind, escalate } = rules;
  const firstAt = endOfQuietHours(rules, state.openedAt + rules.afterSeconds * 1_000);
  const planned: NextNotice[] = [];
  if (remind !== undefined && state.reminders < remind.atMost)
    planned.push({ type: 'reminder', at: firstAt + (state.reminders + 1) * remind.afterSeconds * 1_000 });
  if (escalate !== undefined && !state.isEscalated)
    planned.push({ type: 'escalation', at: state.openedAt + escalate.afterSeconds * 1_000, to: escalate.to });
  const [next] = planned.sort((one, other) => one.at - other.at);
  return next && { ...next, at: endOfQuietHours(rules, Math.max(next.at, state.now)) };
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** The given time, or the end of the quiet hours in which it lies. Pure. */
export function endOfQuietHours({ quietHours }: Pick<NotifyRules, 'quietHours'>, at: number): number {
  if (quietHours === undefined) return at;
  const from = minutesOf(quietHours.from);
  const to = minutesOf(quietHours.to);
  const sinceStart = (minuteOfDay(at, quietHours.timeZone) - from + DAY_MINUTES) % DAY_MINUTES;
  const length = (to - from + DAY_MINUTES) % DAY_MINUTES;
  if (sinceStart >= length) return at;
  const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  return minute + (length - sinceStart) * MINUTE_MS;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function minuteOfDay(at: number, timeZone: string): number {
  const text = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(at);
  return minutesOf(text);
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
