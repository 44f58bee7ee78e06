/** One fault in a caller's input. `path` is its place (`''` for the whole input), and `message` says what to do. */
export type Issue = { path: string; message: string };

/** The maximum number of faults in a reply, so that a small invalid input never causes a huge reply. */
const LISTED_ISSUES_MAX = 50;

const SHOWN_NAME_MAX = 128;

/** Adds a fault, unless the list is full. */
export function addIssue(issues: Issue[], path: string, message: string): void {
  if (issues.length < LISTED_ISSUES_MAX) issues.push({ path, message });
}

/** Makes a caller's key safe to show in a path: without control characters and lone surrogates, and shortened. */
export function shownName(name: string): string {
  return name.slice(0, SHOWN_NAME_MAX).replace(/[\p{Cc}\p{Surrogate}]/gu, '\u{fffd}');
}

/** The path of a key below `path`. */
export function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
