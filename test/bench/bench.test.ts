import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Measurement } from '../../bench/measurement.ts';
import { PARTS } from '../../bench/parts.ts';
import { bundleEntry } from '../harness/processes/bundle.ts';

// At this size a figure means nothing, and a duration never decides a test. Only commands are counted, where they must not grow.
describe('every part of the bench, once and at its smallest size', () => {
  let measurements: Readonly<Record<string, readonly Measurement[]>> = {};

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      // With the condition it starts its children from bundles, too.
      ['--conditions=parley-source', await bundleEntry('bench/run.ts'), '--quick', '--json'],
      { cwd: fileURLToPath(new URL('../..', import.meta.url)) },
    );
    measurements = JSON.parse(stdout) as typeof measurements;
  });

  it.each(Object.keys(PARTS))('%s runs to its end and prints its figures', (part) => {
    const ratios = (measurements[part] ?? []).flatMap(({ what, ratios: each = [] }) =>
      each.map((ratio) => ({ what, ratio })),
    );
    expect(measurements[part]?.length).toBeGreaterThan(0);
    // A profile is compared with nothing.
    if (part !== 'profile') expect(ratios).not.toEqual([]);
    // JSON writes null for what is not a number.
    for (const { what, ratio } of ratios) expect(ratio, what).toBeTypeOf('number');
    const counted = (measurements[part] ?? []).filter(({ what }) => what.endsWith(': commands of Redis'));
    if (part === 'tenants') expect(counted).toHaveLength(5);
    for (const { what, ratios: [ratio] = [] } of counted) expect(ratio, what).toBeLessThanOrEqual(3);
    for (const { what, measured } of measurements[part] ?? []) expect(measured, what).toMatch(/^(?!.*NaN)./);
  });
});
