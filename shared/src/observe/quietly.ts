/** Swallows errors: a fault in an observer must not affect a commit. */
export function quietly<Args extends unknown[]>(observe: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    try {
      observe(...args);
    } catch {
      // An observer's own error cannot be reported anywhere else.
    }
  };
}
