import type { Caller } from '@parley/shared/elicitations/caller';
import { problemOf } from '../../http/problem.ts';
import type { Reply } from '../../http/route.ts';
import type { Frame } from '../../http/sse.ts';
import { frameOf } from './encoder.ts';

/**
 * A refused run as clients of AG-UI read it: a stream with `RUN_ERROR` alone. Nothing for a caller who is not known, who
 * gets the status 401 or 403.
 */
export function agUiRefusal(error: unknown, { caller }: { readonly caller?: Caller }): Reply | undefined {
  if (caller === undefined) return undefined;
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

async function* only(...events: Parameters<typeof frameOf>[0][]): AsyncGenerator<Frame, 'end'> {
  yield* events.map(frameOf);
  return 'end';
}

/** A run that is over when it begins. */
export const endedRun = only;
