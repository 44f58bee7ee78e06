import { bucketOf, type Owner } from '@parley/core/domain/ids';
import { tagOf } from '../client/keys.ts';

/** String: exists while somebody watches the tenant; the number of the last change that was told in the bucket. */
export function watchedKeyIn(bucket: number, tenant: string): string {
  return `parley:{${tagOf(bucket)}}:watched:${encodeURIComponent(tenant)}`;
}

/** The same, of the bucket of an owner. `commitNames` builds this name, too. */
export function watchedKey(owner: Owner): string {
  return watchedKeyIn(bucketOf(owner), owner.tenant);
}

/**
 * Channel: the changes of a tenant, from all buckets. No bucket has this tag. tell-change.lua derives the name from that of a
 * watched key.
 */
export function changesChannel(tenant: string): string {
  return `parley:{tenants}:changes:${encodeURIComponent(tenant)}`;
}
