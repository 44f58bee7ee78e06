import { faultOfFormat, type TextFormat } from '@parley/core/domain/forms/formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FORMAT_SAMPLES } from './form-samples.ts';

test.each(Object.entries(FORMAT_SAMPLES))('format %s', (name, { fits, fails }) => {
  const format = name as TextFormat;
  for (const text of fits) expect(faultOfFormat(format, text), JSON.stringify(text)).toBeUndefined();
  for (const text of fails) expect(faultOfFormat(format, text), JSON.stringify(text)).toMatch(/^must be a/);
});

test('every day of the calendar is a date, and no other', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1600, max: 2500 }), fc.nat(13), fc.nat(32), (year, month, day) => {
      const time = new Date(Date.UTC(year, month - 1, day));
      const real = time.getUTCMonth() === month - 1 && time.getUTCDate() === day;
      const date = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
      expect(faultOfFormat('date', date) === undefined).toBe(real);
      expect(faultOfFormat('date-time', `${date}T12:00:00Z`) === undefined).toBe(real);
    }),
  );
});

test('a text that Date parses and prints unchanged is a date-time', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
      (time) => {
        expect(faultOfFormat('date-time', time.toISOString())).toBeUndefined();
      },
    ),
  );
});
