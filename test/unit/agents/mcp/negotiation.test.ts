import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import type { McpConnection } from '../../../../services/api/src/agents/mcp/connection.ts';
import { negotiate } from '../../../../services/api/src/agents/mcp/revisions/negotiation.ts';
import type { McpRevision } from '../../../../services/api/src/agents/mcp/server-config.ts';

const httpError = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'failed', { status });

it.each([
  [500, '2026-07-28'],
  [502, 'fails'],
  [503, 'fails'],
  [504, 'fails'],
])('a server that replies %s to `initialize` once: %s', async (status, expected) => {
  const open = async (revision: McpRevision) => {
    if (revision === '2025-11-25') throw httpError(status);
    return { revision } as McpConnection;
  };
  const chosen = await negotiate(open, false).then(
    ({ connection }) => connection.revision,
    () => 'fails',
  );
  expect(chosen).toBe(expected);
});
