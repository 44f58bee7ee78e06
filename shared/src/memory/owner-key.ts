import type { Owner } from '../domain/ids.ts';

/** The key of an owner's entries in a map. */
export function ownerKey({ tenant, userId }: Owner): string {
  return JSON.stringify([tenant, userId]);
}
