/** The tolerance for inexact decimals: 0.3 is 2.9999999999999996 times 0.1. */
const TOLERANCE = 1e-9;

/** True when the value is a whole multiple of `step`, which is above 0. */
export function isMultipleOf(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) <= TOLERANCE * Math.max(1, Math.abs(times));
}

/** True when no multiple of `step` lies between the bounds. */
export function isWithoutMultiple(least: number, most: number, step: number): boolean {
  return Math.ceil(least / step - TOLERANCE) > Math.floor(most / step + TOLERANCE);
}
