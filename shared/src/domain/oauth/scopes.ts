const SCOPES_MAX = 50;
const SCOPE_LENGTH_MAX = 200;
/** One scope (RFC 6749, section 3.3). */
const SCOPE = /^[\u0021\u0023-\u005b\u005d-\u007e]+$/u;

/** The distinct scopes of a list from another program. Invalid ones, and those after the 50th, are dropped. */
export function scopesOfList(list: string): string[] {
  const scopes = list.split(/[\s,]+/u).filter((one) => one.length <= SCOPE_LENGTH_MAX && SCOPE.test(one));
  return [...new Set(scopes)].slice(0, SCOPES_MAX);
}

/** The scopes in `needed` that are not in `granted`. Both are lists, separated by spaces. */
export function missingScopes(granted: string, needed: string): string[] {
  const have = new Set(scopesOfList(granted));
  return scopesOfList(needed).filter((scope) => !have.has(scope));
}
