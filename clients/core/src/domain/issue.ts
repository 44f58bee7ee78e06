/** One fault in a caller's input. `path` is where it is (`''` for the whole input); `message` states what to do. */
export type Issue = { path: string; message: string };

/** A reply lists at most this many faults, so that a small invalid input never causes a huge reply. */
const LISTED_ISSUES_MAX = 50;

const SHOWN_NAME_MAX = 128;

/** Adds a fault, unless the list is full. */
export function addIssue(issues: Issue[], path: string, message: string): void {
  if (issues.length < LISTED_ISSUES_MAX) issues.push({ path, message });
}

/** A caller's key made safe to show in a path: no control characters, no lone surrogates, clipped. */
export function shownName(name: string): string {
  return name.slice(0, SHOWN_NAME_MAX).replace(/[\p{Cc}\p{Surrogate}]/gu, '\u{fffd}');
}

/** The path of a key below `path`. */
export function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
