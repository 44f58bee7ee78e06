import { createHash, timingSafeEqual } from 'node:crypto';

// Characters that a header value may contain. An error about an invalid header value would quote the secret.
const HEADER_SAFE = /^[\u0021-\u007e]+$/u;

/** True for a token or key that can be sent unchanged in a header. */
export function isHeaderSafe(secret: string): boolean {
  return HEADER_SAFE.test(secret);
}

/** Compares in constant time, so that the time does not tell where two texts differ. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
