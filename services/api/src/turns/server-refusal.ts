import { isParleyError } from '@parley/shared/domain/errors';
import type { ServerRefusal } from '../agents/mcp/calls/results.ts';
import { RefusedByServer } from '../agents/mcp/errors.ts';

export type { ServerRefusal };

/** What an MCP server said when it refused a request, for a caller that speaks its protocol. Undefined for any other error. */
export function serverRefusalOf(error: unknown): ServerRefusal | undefined {
  return isParleyError(error) && error.cause instanceof RefusedByServer ? error.cause.refusal : undefined;
}
