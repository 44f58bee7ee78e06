/** The bytes that a value takes as JSON; none for undefined. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
