/** The size in bytes of a value as JSON; 0 for undefined. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
