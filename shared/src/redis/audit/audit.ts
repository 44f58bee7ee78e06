import type { Audit } from '../../ports/elicitations/audit.ts';
import { createAuditDeps, type RedisAuditOptions } from './audit-deps.ts';
import { cleanUp } from './cleanup.ts';
import { checkIndexes } from './index-check.ts';

export type { RedisAuditOptions } from './audit-deps.ts';

/** The audit of Parley's data in Redis. */
export function createRedisAudit(options: RedisAuditOptions): Audit {
  const deps = createAuditDeps(options);
  return {
    pending: deps.pending,
    indexCheck: (signal) => checkIndexes(deps, signal),
    cleanup: (signal) => cleanUp(deps, signal),
  };
}
