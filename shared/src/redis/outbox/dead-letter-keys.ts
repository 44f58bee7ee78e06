import { bucketOfName } from '@parley/core/domain/ids';
import { tagOf } from '../client/keys.ts';

/** Sorted set: a tenant's dead letters, by the time at which delivery was given up. */
export function deadLettersKey(tenant: string): string {
  return keyOf('dead-letters', tenant);
}

/** Hash: the details of each dead letter (JSON), in the same slot. */
export function deadLetterDetailsKey(tenant: string): string {
  return keyOf('dead-letter-details', tenant);
}

function keyOf(family: string, tenant: string): string {
  return `parley:{${tagOf(bucketOfName(tenant, 'dead-letters'))}}:${family}:${encodeURIComponent(tenant)}`;
}
