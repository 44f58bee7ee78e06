import { fitsFormat } from '@parley/shared/domain/forms/formats';

const MINUTE = 60_000;

/**
 * A local time as a `datetime-local` control gives it, as RFC 3339 with the offset of that day at this place; nothing
 * when it is no such time. An hour that the clocks skip becomes the next one, as JavaScript has it.
 */
export function offsetTimeOf(local: string): string | undefined {
  const written = local.replace(' ', 'T') + (local.length > 16 ? '' : ':00');
  if (!fitsFormat('date-time', `${written}Z`)) return undefined;
  const at = new Date(written);
  const offset = -at.getTimezoneOffset();
  const away = new Date(Math.abs(offset) * MINUTE).toISOString().slice(11, 16);
  return `${wallClock(at)}${offset < 0 ? '-' : '+'}${away}`;
}

/** A time with offset as a `datetime-local` control takes it: here, to the second where it has seconds. */
export function localOf(rfc3339: string): string {
  const at = new Date(rfc3339.toUpperCase());
  return Number.isNaN(at.getTime()) ? rfc3339 : wallClock(at).replace(/:00$/, '');
}

/** What calendars and clocks here say at a moment, to the second. */
function wallClock(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}
