/** What a service key may do. `admin` includes all others. */
export const SCOPES = ['ask', 'read', 'chat', 'link', 'act', 'operate', 'read_content', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** What a key without named scopes may do. */
export const DEFAULT_SCOPES: readonly Scope[] = ['ask', 'read', 'chat'];

/** True when one of the scopes that a key has is among the `needed`. */
export function hasScope(scopes: readonly Scope[], needed: readonly Scope[]): boolean {
  return scopes.includes('admin') || needed.some((scope) => scopes.includes(scope));
}
