import { createHash, timingSafeEqual } from 'node:crypto';

// What may stand in a header value: an error text about a value that may not would quote the secret.
const HEADER_SAFE = /^[\u0021-\u007e]+$/u;

/** True for a token or key that can be sent in a header as it is. */
export function isHeaderSafe(secret: string): boolean {
  return HEADER_SAFE.test(secret);
}

/** Equality in a time that does not tell where two texts differ. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
