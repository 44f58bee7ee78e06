import { fitsFormat } from '@parley/core/domain/forms/formats';

const MINUTE = 60_000;

/**
 * Converts the value of a `datetime-local` control to RFC 3339 with the local offset of that day; undefined for any other text.
 * A time that daylight saving skips becomes an hour later, as in JavaScript. In a repeated hour, the time gets the offset of
 * `original` if that is in the same hour, and otherwise the first offset.
 */
export function offsetTimeOf(local: string, original?: unknown): string | undefined {
  const written = local.replace(' ', 'T') + (local.length > 16 ? '' : ':00');
  if (!fitsFormat('date-time', `${written}Z`)) return undefined;
  const from = readTime(original);
  const start = wallClock(from);
  const moved = new Date(from.getTime() + Date.parse(`${written}Z`) - Date.parse(`${start}Z`));
  const isKept = start.slice(0, 13) === written.slice(0, 13) && wallClock(moved) === written;
  const at = isKept ? moved : new Date(written);
  const offset = -at.getTimezoneOffset();
  const away = new Date(Math.abs(offset) * MINUTE).toISOString().slice(11, 16);
  return `${wallClock(at)}${offset < 0 ? '-' : '+'}${away}`;
}

/** Converts an RFC 3339 time to a value of a `datetime-local` control, with seconds only if they are not zero. */
export function localOf(rfc3339: string): string {
  return wallClock(readTime(rfc3339)).replace(/:00$/, '') || rfc3339;
}

function readTime(rfc3339: unknown): Date {
  return new Date(String(rfc3339).toUpperCase());
}

/** The local date and time to the second; empty for an invalid time. */
function wallClock(at: Date): string {
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}
