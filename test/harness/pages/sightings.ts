import { inspect } from 'node:util';
import { findCanary } from '../canary.ts';

/** The attempt that all these tests make. */
export const CONTEXT = { flowId: 'el_00flow', tenant: 'acme' };

/** Everything that could be read off some values by printing them, for a look through with a canary. */
function printed(...values: unknown[]): string[] {
  return values.flatMap((value) => [
    inspect(value, { depth: 10, showHidden: true }),
    JSON.stringify(value) ?? '',
  ]);
}

/** Where a marker turns up in anything that printing these values shows. */
export function sightings(marker: string, ...values: unknown[]) {
  return findCanary(marker, printed(...values));
}
