import { fitsFormat } from '@parley/shared/domain/forms/formats';

const MINUTE = 60_000;

/**
 * Converts the value of a `datetime-local` control to RFC 3339 with the local offset of that day; undefined for any other
 * text. A time that daylight saving skips becomes an hour later, as in JavaScript.
 */
export function offsetTimeOf(local: string): string | undefined {
  const written = local.replace(' ', 'T') + (local.length > 16 ? '' : ':00');
  if (!fitsFormat('date-time', `${written}Z`)) return undefined;
  const at = new Date(written);
  const offset = -at.getTimezoneOffset();
  const away = new Date(Math.abs(offset) * MINUTE).toISOString().slice(11, 16);
  return `${wallClock(at)}${offset < 0 ? '-' : '+'}${away}`;
}

/** Converts an RFC 3339 time to a value of a `datetime-local` control, with seconds only if they are not zero. */
export function localOf(rfc3339: string): string {
  const at = new Date(rfc3339.toUpperCase());
  return Number.isNaN(at.getTime()) ? rfc3339 : wallClock(at).replace(/:00$/, '');
}

/** The local date and time, to the second. */
function wallClock(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}
