const RANDOM_BYTES = 16;

/** Mints 128 random bits in hex. Unlike `randomUUID` this also works in pages that are not served over https. */
export function mintToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
