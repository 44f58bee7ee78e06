import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { problemOf } from '../../http/problem.ts';
import type { Reply } from '../../http/route.ts';
import type { Frame } from '../../http/sse.ts';
import { withLast } from '../../turns/encoder.ts';
import { type StartRequest, startTurn } from '../../turns/start.ts';
import { frameOf } from './encoder.ts';

const READ_ON = 'To read the reply to an earlier one, connect to the thread.';

/**
 * A refused run for AG-UI clients: a stream that contains only `RUN_ERROR`. Undefined for an unknown or forbidden caller, who
 * gets the status 401 or 403.
 */
export function agUiRefusal(error: unknown, { caller }: { readonly caller?: Caller }): Reply | undefined {
  if (caller === undefined || isParleyError(error, 'forbidden')) return undefined;
  const { headers, body } = problemOf(error);
  const { code, detail, ...rest } = body;
  const retryAfter = headers['retry-after'];
  const parley = { ...rest, ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }) };
  return {
    type: 'events',
    resumable: false,
    events: only({ type: 'RUN_ERROR', code: String(code), message: String(detail), metadata: { parley } }),
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
  };
}

/**
 * Begins the turn of a run, as `startTurn` does. A client that repeats the id of an earlier run is told how to read that run.
 */
export async function startRun(
  turns: Parameters<typeof startTurn>[0],
  request: StartRequest,
): ReturnType<typeof startTurn> {
  if (request.messages.at(-1)?.role === 'assistant')
    throw new ParleyError('invalid_request', `The last message must be the user's. ${READ_ON}`);
  try {
    return await startTurn(turns, request);
  } catch (error) {
    if (!isParleyError(error, 'idempotency_mismatch')) throw error;
    const message = `This runId was used with other messages; a new message needs a new one. ${READ_ON}`;
    throw new ParleyError('idempotency_mismatch', message);
  }
}

async function* only(...events: Parameters<typeof frameOf>[0][]): AsyncGenerator<Frame, 'end'> {
  yield* withLast(events.map(frameOf));
  return 'end';
}

/** The stream of a run that has already ended when it is requested. */
export const endedRun = only;
