import { jsonBytes } from '../json/bytes.ts';

/** Larger arguments are nothing that a person could read before they approve them. */
export const ARGUMENTS_BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 32;

/** Why arguments are too much to be shown to a person in full; undefined where they are not. They may be nested without a bound. */
export function faultOfExtent(given: unknown): string | undefined {
  if (!isWithin(given, DEPTH_MAX)) return 'are nested too deeply';
  if (jsonBytes(given) > ARGUMENTS_BYTES_MAX) return `are more than ${ARGUMENTS_BYTES_MAX} bytes`;
  return undefined;
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return levels >= 0;
  return levels >= 0 && Object.values(value).every((each) => isWithin(each, levels - 1));
}
