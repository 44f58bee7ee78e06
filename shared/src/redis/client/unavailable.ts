import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { ReplyError } from 'ioredis';

// Error replies about a temporary state of the server, not about the command.
const PASSING_REPLIES =
  /^(OOM|READONLY|LOADING|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|MISCONF|BUSY|MOVED|ASK|UNBLOCKED)\b/;

/** Runs Redis commands. An error that means that Redis is unreachable or not ready becomes `unavailable`. */
export async function orUnavailable<T>(
  run: () => Promise<T>,
  onError?: (error: unknown) => void,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (isParleyError(error)) throw error;
    onError?.(error);
    if (isReplyError(error) && !PASSING_REPLIES.test(error.message)) throw error;
    throw new ParleyError('unavailable', 'The store is not reachable right now; try again shortly.', {
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}

/** True for an `unavailable` from a server that serves reads but refuses writes, for example because its memory is full. */
export function refusesWritesOnly(error: unknown): boolean {
  if (!isParleyError(error, 'unavailable')) return false;
  return (
    servesReads(error.cause) || (isReplyError(error.cause) && error.cause.message.startsWith('READONLY'))
  );
}

/** True for the reply of a master that temporarily refuses writes. False for a replica, because pods must leave it. */
export function servesReads(error: unknown): boolean {
  return isReplyError(error) && /^(OOM|NOREPLICAS|MISCONF)\b/.test(error.message);
}

function isReplyError(error: unknown): error is Error {
  return error instanceof ReplyError || (error instanceof Error && error.name === 'ReplyError');
}
