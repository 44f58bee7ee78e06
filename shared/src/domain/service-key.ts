/** What a service key may do. `admin` includes all others. */
export const SCOPES = ['ask', 'read', 'chat', 'link', 'act', 'operate', 'read_content', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a key for which none are configured. */
export const DEFAULT_SCOPES: readonly Scope[] = ['ask', 'read', 'chat'];

/** True when the key has at least one of the `needed` scopes, or `admin`. */
export function hasScope(scopes: readonly Scope[], needed: readonly Scope[]): boolean {
  return scopes.includes('admin') || needed.some((scope) => scopes.includes(scope));
}
