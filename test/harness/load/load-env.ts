export const SECRET = 'load-secret-load-secret-load-secret-1';
export const TENANTS = ['acme', 'globex'] as const;
const SERVICE_KEYS = TENANTS.map((tenant) => `${tenant}:${serviceKeyOf(tenant)}`).join(',');

/** What every pod of a load needs in its environment, apart from Redis. */
export const LOAD_ENV = {
  PARLEY_JWT_SECRET: SECRET,
  PARLEY_API_KEYS: SERVICE_KEYS,
  PARLEY_LOG_LEVEL: 'warn',
  PARLEY_LIMIT_USER_WRITES: '1000000',
  PARLEY_LIMIT_USER_STREAMS: '1000',
  PARLEY_LIMIT_USER_READS: '1000000',
  PARLEY_LIMIT_USER_TURNS: '1000',
} as const;

/** The service key of a tenant, as LOAD_ENV gives it to the pods. */
export function serviceKeyOf(tenant: string): string {
  return `${tenant}-service-key-for-the-load`;
}
