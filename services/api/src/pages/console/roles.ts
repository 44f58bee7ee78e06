import type { Scope } from '@parley/shared/domain/service-key';

/** What an operator may do: `viewer` looks, `operator` also changes, `reader` also sees what people and models wrote. Roles combine. */
export const OPERATOR_ROLES = ['viewer', 'operator', 'reader'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The roles of an operator in one tenant; at least one. */
export interface TenantRoles {
  readonly tenant: string;
  readonly roles: readonly OperatorRole[];
}

const ENTRIES_MAX = 1_000;
const TENANTS_MAX = 50;

/**
 * The roles that a claim gives in these tenants. The claim is a list of `role`, which applies to all of them, and
 * `tenant:role`; or an object from a tenant to its role or roles. Entries with an unknown role or an unlisted tenant are
 * ignored.
 */
export function rolesOf(claim: unknown, tenants: readonly string[]): readonly TenantRoles[] {
  const given = new Map<string, Set<string>>();
  for (const { tenant, role } of grantsOf(claim)) {
    for (const one of tenant === undefined ? tenants : [tenant])
      given.set(one, (given.get(one) ?? new Set()).add(role));
  }
  return tenants
    .map((tenant) => ({
      tenant,
      roles: OPERATOR_ROLES.filter((role) => given.get(tenant)?.has(role) === true),
    }))
    .filter(({ roles }) => roles.length > 0)
    .slice(0, TENANTS_MAX);
}

/** The value of a claim by its name, or else by a dotted path into objects. */
export function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.'))
    value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}

/**
 * The scopes with which an operator with these roles acts. Every role may read without a scope; content requires the role
 * `reader`.
 */
export function scopesOf(roles: readonly OperatorRole[]): readonly Scope[] {
  return [
    ...(roles.includes('operator') ? (['operate'] as const) : []),
    ...(roles.includes('reader') ? (['read_content'] as const) : []),
  ];
}

interface RoleGrant {
  /** Absent for a role in all tenants. */
  readonly tenant?: string;
  readonly role: string;
}

function grantsOf(claim: unknown): readonly RoleGrant[] {
  if (isObject(claim))
    return Object.entries(claim)
      .slice(0, ENTRIES_MAX)
      .flatMap(([tenant, roles]) => textsOf(roles).map((role) => ({ tenant, role })));
  return textsOf(claim).map((text) => {
    const colon = text.lastIndexOf(':');
    return colon < 0 ? { role: text } : { tenant: text.slice(0, colon), role: text.slice(colon + 1) };
  });
}

function textsOf(value: unknown): readonly string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value.slice(0, ENTRIES_MAX) : [value];
  return all.filter((one) => typeof one === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
