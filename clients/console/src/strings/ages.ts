const CHOICES = [60, 600, 3_600, 86_400];

/** Ages to filter by, in seconds, with their words. */
export function agoOfSeconds(lang: string): Readonly<Record<string, string>> {
  const format = (value: number, unit: 'minute' | 'hour' | 'day') =>
    new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
  return Object.fromEntries(
    CHOICES.map((seconds) => [
      `${seconds}`,
      seconds >= 86_400
        ? format(seconds / 86_400, 'day')
        : seconds >= 3_600
          ? format(seconds / 3_600, 'hour')
          : format(seconds / 60, 'minute'),
    ]),
  );
}
