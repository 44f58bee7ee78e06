/** A name for one press, of 128 random bits. Not randomUUID, which pages without https lack. */
export function newResponseId(): string {
  return crypto.getRandomValues(new BigUint64Array(2)).join('-');
}
