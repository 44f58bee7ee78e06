import { fitsFormat } from '@parley/shared/domain/form-formats';

const LOCAL = /^(\d{4})-(\d\d)-(\d\d)[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d*)?)?$/;

/**
 * A local time as a `datetime-local` control gives it, as RFC 3339 with the offset of that day at this place; nothing
 * when it is no such time. An hour that the clocks skip becomes the next one, as JavaScript has it.
 */
export function offsetTimeOf(local: string): string | undefined {
  const parts = LOCAL.exec(local);
  if (parts === null || !fitsFormat('date', local.slice(0, 10))) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const at = new Date(2000, 0, 1);
  // Not by the constructor, which takes the years 0 to 99 for those of another century.
  at.setFullYear(year, month - 1, day);
  at.setHours(hour, minute, second, 0);
  const offset = -at.getTimezoneOffset();
  const sign = offset < 0 ? '-' : '+';
  const minutes = Math.abs(offset);
  return `${dateOf(at)}T${clockOf(at)}:${two(at.getSeconds())}${sign}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

/** A time with offset as a `datetime-local` control takes it: here, to the second where it has any. */
export function localOf(rfc3339: string): string {
  const at = new Date(rfc3339.toUpperCase());
  if (Number.isNaN(at.getTime())) return rfc3339;
  const seconds = at.getSeconds();
  return `${dateOf(at)}T${clockOf(at)}${seconds === 0 ? '' : `:${two(seconds)}`}`;
}

function dateOf(at: Date): string {
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function clockOf(at: Date): string {
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
