/**
 * Calls `make` once and shares its result among all callers, concurrent ones included. A failure is not cached: the next call
 * runs `make` again.
 */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
