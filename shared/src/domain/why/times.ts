const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A length of time as people say it, in its largest unit: "14 minutes". Pure. */
export function inWords(ms: number): string {
  const [unit, length] = UNITS.find(([, each]) => ms >= each) ?? (['second', 1_000] as const);
  const count = Math.floor(Math.max(0, ms) / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** A time of day on the store's clock: "at 10:20:00 UTC", with the day where it is not that of `now`. Pure. */
export function atTime(time: number, now: number): string {
  const [day = '', rest = ''] = new Date(time).toISOString().split('T');
  const isToday = new Date(now).toISOString().startsWith(day);
  return `at ${rest.slice(0, 8)} UTC${isToday ? '' : ` on ${day}`}`;
}
