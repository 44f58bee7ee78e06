const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A time of day on the store's clock, with the date unless it is today. */
export interface Moment {
  readonly clock: string;
  readonly day?: string;
}

/** Converts a time in ms to a moment in UTC, relative to `now`. Pure. */
export function momentOf(time: number, now: number): Moment {
  const [day = '', rest = ''] = new Date(time).toISOString().split('T');
  const clock = `${rest.slice(0, 8)} UTC`;
  return new Date(now).toISOString().startsWith(day) ? { clock } : { clock, day };
}

/** Formats durations in a language, each in its largest unit. Takes ms and rounds down. */
export function timesIn(language: string) {
  const relative = new Intl.RelativeTimeFormat(language);
  const lengths = new Map(
    UNITS.map(([unit]) => [
      unit,
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }),
    ]),
  );
  return {
    /** "14 minutes ago" */
    ago: (ms: number) => inUnits(ms, (count, unit) => relative.format(-count, unit)),
    /** "in 14 minutes" */
    ahead: (ms: number) => inUnits(ms, (count, unit) => relative.format(count, unit)),
    /** "14 minutes" */
    length: (ms: number) => inUnits(ms, (count, unit) => lengths.get(unit)?.format(count) ?? ''),
  };
}

function inUnits(ms: number, say: (count: number, unit: (typeof UNITS)[number][0]) => string): string {
  const [unit, each] = UNITS.find(([, length]) => ms >= length) ?? (['second', 1_000] as const);
  return say(Math.floor(Math.max(0, ms) / each), unit);
}
