import { createHash } from 'node:crypto';
import { bucketOfName, type Owner } from '@parley/core/domain/ids';
import type { PageEntryName } from '../../ports/page-store.ts';
import { ownedBy, tagOf } from '../client/keys.ts';

/** Hash: one entry of the hosted pages. The key contains only a hash of the id, so that reading key names gives no access. */
export function pageEntryKey(name: PageEntryName): string {
  return keyOfPageEntry(pageEntry(name));
}

/** The name of an entry in its person's list: `<family>:<hash of the id>`. */
export function pageEntry({ family, id }: PageEntryName): string {
  return `${family}:${createHash('sha256').update(id).digest('base64url')}`;
}

/** The key of a listed entry. */
export function keyOfPageEntry(entry: string): string {
  const fingerprint = entry.slice(entry.indexOf(':') + 1);
  return `parley:{${tagOf(bucketOfName('', fingerprint))}}:connect-${entry}`;
}

/** Sorted set: a person's entries, by the time (ms) at which they expire. */
export function pageEntriesKey(owner: Owner): string {
  return ownedBy(owner, 'connect-entries');
}
