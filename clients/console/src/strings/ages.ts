/** The ages by which lists can be filtered, in seconds. */
export const AGES = [60, 600, 3_600, 86_400];
/** The choices for extending a deadline, in seconds. */
export const EXTENSIONS = [300, 900, 3_600, 86_400];

/** Words for durations, by their seconds. */
export function durationsIn(lang: string, choices: readonly number[]): Readonly<Record<string, string>> {
  const format = (value: number, unit: 'minute' | 'hour' | 'day') =>
    new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
  return Object.fromEntries(
    choices.map((seconds) => [
      `${seconds}`,
      seconds >= 86_400
        ? format(seconds / 86_400, 'day')
        : seconds >= 3_600
          ? format(seconds / 3_600, 'hour')
          : format(seconds / 60, 'minute'),
    ]),
  );
}
