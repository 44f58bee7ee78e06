import { jsonBytes } from '../json/bytes.ts';

/** Nobody could read larger arguments before approving them. */
export const ARGUMENTS_BYTES_MAX = 64 * 1024;
const DEPTH_MAX = 32;

/**
 * Why arguments are too large or too deep to be displayed in full; undefined when they are not. The function accepts values of
 * any depth.
 */
export function faultOfExtent(given: unknown): string | undefined {
  if (!isWithin(given, DEPTH_MAX)) return 'are nested too deeply';
  if (jsonBytes(given) > ARGUMENTS_BYTES_MAX) return `are more than ${ARGUMENTS_BYTES_MAX} bytes`;
  return undefined;
}

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return levels >= 0;
  return levels >= 0 && Object.values(value).every((each) => isWithin(each, levels - 1));
}
