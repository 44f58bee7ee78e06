import { bucketOf, type Owner } from '@parley/core/domain/ids';
import { tagOf } from '../client/keys.ts';

/** String: exists while the tenant is watched. Its value is the number of the last change published in the bucket. */
export function watchedKeyIn(bucket: number, tenant: string): string {
  return `parley:{${tagOf(bucket)}}:watched:${encodeURIComponent(tenant)}`;
}

/** The watched key in the bucket of an owner. `commitNames` builds this name too. */
export function watchedKey(owner: Owner): string {
  return watchedKeyIn(bucketOf(owner), owner.tenant);
}

/**
 * Channel: the changes of a tenant, from all buckets; its tag belongs to no bucket. tell-change.lua derives the name from a
 * watched key.
 */
export function changesChannel(tenant: string): string {
  return `parley:{tenants}:changes:${encodeURIComponent(tenant)}`;
}
