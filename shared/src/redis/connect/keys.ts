import { createHash } from 'node:crypto';
import { bucketOfName } from '../../domain/ids.ts';
import type { ConnectName } from '../../ports/connect-store.ts';
import { tagOf } from '../client/keys.ts';

/** Hash: something that hosted pages keep. Named by a hash, for whoever reads the names must not become a bearer. */
export function connectKey({ family, id }: ConnectName): string {
  const fingerprint = createHash('sha256').update(id).digest('base64url');
  return `parley:{${tagOf(bucketOfName('', fingerprint))}}:connect-${family}:${fingerprint}`;
}
