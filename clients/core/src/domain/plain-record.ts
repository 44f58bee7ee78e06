/** True for a plain object, the kind that JSON has: neither a list nor a class instance. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // It is not compared with Object.prototype, because objects of another realm have a different one.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value of an own key, never of an inherited one. `undefined` means absent, as in JSON. */
export function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
