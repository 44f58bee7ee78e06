import { DEFAULT_SCOPES, SCOPES, type Scope } from '../domain/service-key.ts';

/** A service key as configured. */
export interface ServiceKey {
  readonly tenant: string;
  /** Names the key in logs. Keys with the same name count as one caller, so that a secret can be rotated. */
  readonly name?: string;
  readonly scopes: readonly Scope[];
  /** When the key expires, in ms since 1970. */
  readonly expiresAtMs?: number;
  readonly secret: string;
}

const ENTRY = /^([A-Za-z0-9._-]{1,128})((?:\/[^:/]*){0,3}):([\x21-\x7e]{8,8192})$/;
// Names have at least four characters, more than the generated ids of unnamed keys, so the two are never confused.
const NAME = /^[A-Za-z0-9._-]{4,64}$/;
const DATE = /^\d{4}-\d\d-\d\d$/;

const MALFORMED =
  'PARLEY_API_KEYS: every entry must be tenant:secret or tenant/name/scopes/expiry:secret, with a secret of 8 to 8,192 visible ASCII characters';

/** Parses the entries of `PARLEY_API_KEYS` into keys and faults. A fault never repeats a secret. */
export function parseServiceKeys(entries: readonly string[]): {
  readonly keys: readonly ServiceKey[];
  readonly faults: readonly string[];
} {
  const keys: ServiceKey[] = [];
  const faults = new Set<string>();
  for (const entry of entries) {
    const key = parseEntry(entry);
    if (typeof key === 'string') faults.add(key);
    else keys.push(key);
  }
  if (new Set(keys.map(({ secret }) => secret)).size < keys.length) {
    faults.add('PARLEY_API_KEYS: two entries have the same secret, so they do not identify one caller');
  }
  return { keys, faults: [...faults] };
}

/** The key of an entry, or a sentence about its fault. */
function parseEntry(entry: string): ServiceKey | string {
  const [, tenant, parts = '', secret] = ENTRY.exec(entry) ?? [];
  if (tenant === undefined || secret === undefined) return MALFORMED;
  const [, name, scopeList, expiry] = parts.split('/');
  if (name !== undefined && !NAME.test(name)) {
    return 'PARLEY_API_KEYS: the name of a key must be 4 to 64 of A-Z a-z 0-9 . _ -';
  }
  const scopes = scopeList === undefined ? DEFAULT_SCOPES : scopeList.split('+');
  if (!scopes.every(isScope)) {
    return `PARLEY_API_KEYS: the scopes of a key must be some of ${SCOPES.join(', ')}, joined by +`;
  }
  const expiresAtMs = expiry === undefined ? undefined : startOfDay(expiry);
  if (expiry !== undefined && expiresAtMs === undefined) {
    return 'PARLEY_API_KEYS: the expiry of a key must be a date such as 2027-01-31, the first day without it';
  }
  return {
    tenant,
    scopes: scopes as readonly Scope[],
    secret,
    ...(name !== undefined && { name }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  };
}

function isScope(word: string): boolean {
  return SCOPES.some((scope) => scope === word);
}

/** The start of a day (UTC) in ms since 1970. Undefined for a day that does not exist. */
function startOfDay(date: string): number | undefined {
  const day = new Date(`${date}T00:00:00.000Z`);
  const exists = DATE.test(date) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
  return exists ? day.getTime() : undefined;
}
