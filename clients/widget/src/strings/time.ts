const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = 'second' | 'minute' | 'hour' | 'day';

/** A duration in one unit, rounded down so that it never overstates the time: `5 minutes`. */
export function durationIn(lang: string, ms: number): string {
  const [amount, unit] = inUnit(ms);
  return new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay: 'long' }).format(amount);
}

/** A duration for announcements: to the nearest minute, or in seconds below one minute. */
export function roughlyIn(lang: string, ms: number): string {
  const minutes = Math.round(ms / MINUTE);
  return durationIn(lang, minutes > 0 ? minutes * MINUTE : Math.ceil(ms / SECOND) * SECOND);
}

/** Minutes and seconds, such as `4:59`; ten minutes or more in words. */
export function countdownIn(lang: string, ms: number): string {
  if (ms >= 10 * MINUTE) return durationIn(lang, ms);
  // Seconds are rounded up, so that 0:00 is the end and not the last second.
  const seconds = Math.ceil(Math.max(0, ms) / SECOND);
  return `${Math.trunc(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** An age: `3 minutes ago`, or `now` below a minute. */
export function ageIn(lang: string, ms: number): string {
  const format = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' });
  if (ms < MINUTE) return format.format(0, 'second');
  const [amount, unit] = inUnit(ms);
  return format.format(-amount, unit);
}

/** A local time, with the date unless it is today. */
export function momentIn(lang: string, at: Date, now: Date = new Date()): string {
  const sameDay = at.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(lang, {
    timeStyle: 'short',
    ...(!sameDay && { dateStyle: 'medium' }),
  }).format(at);
}

/** A number in the notation of the language. */
export function numberIn(lang: string, value: number): string {
  return new Intl.NumberFormat(lang).format(value);
}

/** The singular or the plural, depending on the count. */
export function pluralIn(lang: string, count: number, one: string, other: string): string {
  return new Intl.PluralRules(lang).select(count) === 'one' ? one : other;
}

function inUnit(ms: number): [amount: number, unit: Unit] {
  if (ms >= 2 * DAY) return [Math.floor(ms / DAY), 'day'];
  if (ms >= 2 * HOUR) return [Math.floor(ms / HOUR), 'hour'];
  if (ms >= MINUTE) return [Math.floor(ms / MINUTE), 'minute'];
  return [Math.max(0, Math.floor(ms / SECOND)), 'second'];
}
