/** True for a plain object, as JSON has them: neither a list nor a class instance. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not compared with Object.prototype, because an object of another realm has a different one.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value of an own key, never of an inherited one. `undefined` means absent, as in JSON. */
export function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
