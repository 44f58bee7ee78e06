import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { ReplyError } from 'ioredis';

// Replies about the state of the server, which passes, rather than about the command.
const PASSING_REPLIES =
  /^(OOM|READONLY|LOADING|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|MISCONF|BUSY|MOVED|ASK|UNBLOCKED)\b/;

/** Runs Redis commands. A fault that means that Redis cannot be reached or is not ready becomes `unavailable`. */
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

/** True for an `unavailable` of a server that serves reads and refuses writes, for example because its memory is full. */
export function refusesWritesOnly(error: unknown): boolean {
  if (!isParleyError(error, 'unavailable')) return false;
  return (
    servesReads(error.cause) || (isReplyError(error.cause) && error.cause.message.startsWith('READONLY'))
  );
}

/** True for the reply of a master that refuses writes for the time being. A replica is no such server: it is to be left. */
export function servesReads(error: unknown): boolean {
  return isReplyError(error) && /^(OOM|NOREPLICAS|MISCONF)\b/.test(error.message);
}

function isReplyError(error: unknown): error is Error {
  return error instanceof ReplyError || (error instanceof Error && error.name === 'ReplyError');
}
