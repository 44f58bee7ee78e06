import type { FormControl } from './controls.ts';

/** A count with its noun: `1 choice`, `1,234 choices`. */
export function countOf(amount: number, noun: string): string {
  return `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`;
}

/** What the bounds of a control allow, in English; undefined if it has none. */
export function hintOf({ kind, least, most }: FormControl): string | undefined {
  // Numbers are written as a number field accepts them, without thousands separators.
  const say = (amount: number) =>
    kind === 'number' || kind === 'integer'
      ? String(amount)
      : countOf(amount, kind === 'multi' ? 'choice' : 'character');
  if (least === undefined) return most === undefined ? undefined : `At most ${say(most)}`;
  if (most === undefined) return `At least ${say(least)}`;
  return least === most ? `Exactly ${say(least)}` : `${least} to ${say(most)}`;
}
