const SCOPES_MAX = 50;
const SCOPE_LENGTH_MAX = 200;
/** One scope (RFC 6749, section 3.3). */
const SCOPE = /^[\u0021\u0023-\u005b\u005d-\u007e]+$/u;

/** The scopes of a list that another program sent, each once. Drops what is no scope, and what is beyond 50. */
export function scopesOfList(list: string): string[] {
  const scopes = list.split(/[\s,]+/u).filter((one) => one.length <= SCOPE_LENGTH_MAX && SCOPE.test(one));
  return [...new Set(scopes)].slice(0, SCOPES_MAX);
}

/** The scopes that are needed and not granted. Both are lists, separated by spaces. */
export function missingScopes(granted: string, needed: string): string[] {
  const have = new Set(scopesOfList(granted));
  return scopesOfList(needed).filter((scope) => !have.has(scope));
}
