import { createHash } from 'node:crypto';
import { bucketOfName } from '../../domain/ids.ts';
import type { ConnectName } from '../../ports/connect-store.ts';
import { tagOf } from '../client/keys.ts';

/** Hash: one entry of the hosted pages. Its name holds a hash of the id, so that reading key names gives no access. */
export function connectKey({ family, id }: ConnectName): string {
  const fingerprint = createHash('sha256').update(id).digest('base64url');
  return `parley:{${tagOf(bucketOfName('', fingerprint))}}:connect-${family}:${fingerprint}`;
}
