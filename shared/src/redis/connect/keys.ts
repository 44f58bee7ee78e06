import { createHash } from 'node:crypto';
import { bucketOfName, type Owner } from '../../domain/ids.ts';
import type { ConnectName } from '../../ports/connect-store.ts';
import { ownedBy, tagOf } from '../client/keys.ts';

/** Hash: one entry of the hosted pages. Its name holds a hash of the id, so that reading key names gives no access. */
export function connectKey(name: ConnectName): string {
  return connectKeyOf(connectEntry(name));
}

/** An entry as the list of its person names it: `<family>:<hash of the id>`. */
export function connectEntry({ family, id }: ConnectName): string {
  return `${family}:${createHash('sha256').update(id).digest('base64url')}`;
}

/** The key of a listed entry. */
export function connectKeyOf(entry: string): string {
  const fingerprint = entry.slice(entry.indexOf(':') + 1);
  return `parley:{${tagOf(bucketOfName('', fingerprint))}}:connect-${entry}`;
}

/** Sorted set: the entries of a person, by the time (ms) at which they expire. */
export function connectEntriesKey(owner: Owner): string {
  return ownedBy(owner, 'connect-entries');
}
