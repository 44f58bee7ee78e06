import type { Owner } from '@parley/core/domain/ids';

/** The key of an owner in a map. */
export function ownerKey({ tenant, userId }: Owner): string {
  return JSON.stringify([tenant, userId]);
}
