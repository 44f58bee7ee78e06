/** Whether `value` is a plain object, as JSON makes them: no list, no class instance. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Asked by shape, because objects of another realm have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value under an own key, never an inherited one; `undefined` means absent, as in JSON. */
export function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
