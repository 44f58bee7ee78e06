import type { Fault } from '@parley/core/domain/forms/fault';

/** How a question ended, on its answer page. `settled`: answered elsewhere, cancelled or withdrawn. */
export type AnsweredAs = 'answered' | 'declined' | 'expired' | 'settled';

/** The fault of a control. `pattern`: the text does not match the regular expression of its field. */
export type ControlFault = Fault | { readonly rule: 'pattern' };

const MINUTE_MS = 60_000;
const UNITS = [
  ['day', 24 * 60 * MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['minute', MINUTE_MS],
] as const;

/** A duration in words, in its largest whole unit: `3 hours`. Less than a minute counts as one minute. */
export function durationIn(language: string, ms: number): string {
  const [unit, length] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? UNITS[2];
  const amount = Math.max(1, Math.floor(ms / length));
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(amount);
}
