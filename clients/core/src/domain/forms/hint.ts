import type { FormControl } from './controls.ts';

/** `1 choice`, `1,234 choices`. */
export function countOf(amount: number, noun: string): string {
  return `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`;
}

/** What the bounds of a control allow, in English; undefined without bounds. */
export function hintOf({ kind, least, most }: FormControl): string | undefined {
  // As a number field accepts it, without thousands separators.
  const say = (amount: number) =>
    kind === 'number' || kind === 'integer'
      ? String(amount)
      : countOf(amount, kind === 'multi' ? 'choice' : 'character');
  if (least === undefined) return most === undefined ? undefined : `At most ${say(most)}`;
  if (most === undefined) return `At least ${say(least)}`;
  return least === most ? `Exactly ${say(least)}` : `${least} to ${say(most)}`;
}
