/**
 * Creates an id of 128 random bits in `[0-9-]`, for an idempotency key or a `responseId`. Unlike `randomUUID`, it also works in
 * pages that are not served over https.
 */
export function createRandomId(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-');
}
