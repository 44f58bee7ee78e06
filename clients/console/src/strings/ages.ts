/** Ages to filter by, in seconds. */
export const AGES = [60, 600, 3_600, 86_400];
/** The choices of how much later a deadline becomes, in seconds. */
export const EXTENSIONS = [300, 900, 3_600, 86_400];

/** Durations to choose from, in seconds, with their words. */
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
