/** Swallows errors: a fault in an observer must not affect a commit. */
export function quietly<Args extends unknown[]>(observe: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      observe(...args);
    } catch {
      // There is no further place to report it.
    }
  };
}
