import { ParleyError } from '@parley/core/domain/errors';
import { RefusedByServer } from '../../mcp/refused-by-server.ts';
import type { McpFailure, McpReadResult } from '../../mcp/results.ts';
import { passedOn } from './server-read.ts';

const ASKS_FIRST = 'The server asks the user first, and the client cannot show what it asks.';

/** The result of a read, for a client. */
export function resultOf(reply: McpReadResult | undefined): Readonly<Record<string, unknown>> | undefined {
  if (reply === undefined || reply.type === 'absent') return undefined;
  return reply.type === 'read' ? passedOn(reply.result) : refuse(reply);
}

/** Throws the error that a client gets for a failure. */
export function refuse(reply: McpFailure): never {
  if (reply.type !== 'refused' && reply.type !== 'input_required') throw serverUnavailable();
  const { refusal } = reply;
  const message = reply.type === 'refused' ? reply.message : ASKS_FIRST;
  const cause = refusal && new RefusedByServer(refusal);
  throw new ParleyError('invalid_request', message, { cause });
}

/** The error of a server that cannot be reached. */
export function serverUnavailable(): ParleyError {
  return new ParleyError(
    'unavailable',
    'The server behind Parley cannot be reached, or refused its credential.',
    {
      retryAfterSeconds: 5,
    },
  );
}
