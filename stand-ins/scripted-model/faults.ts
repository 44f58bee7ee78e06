import type { ServerResponse } from 'node:http';
import { errorBody, type Refusal } from './protocol.ts';

/**
 * A way to misbehave. `afterChunks` counts the chunks of a stream that still come out well, the first of which says
 * no more than the role; a request without `stream` is broken in the middle of its body instead.
 *
 * | kind | what the caller observes |
 * |---|---|
 * | `refuse` | that status with an error body, and `Retry-After` when given |
 * | `hang` | silence, until the caller disconnects; without `afterChunks` not even a status |
 * | `cut` | the connection breaks |
 * | `end` | a clean end too early, without a finish reason; half a body without `stream` |
 * | `malformed` | JSON that ends in its middle, then a clean end |
 * | `error` | an error event within the stream, then a clean end; 500 without `stream` |
 */
export type ModelFault =
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: 'hang' | 'cut' | 'end' | 'malformed' | 'error'; readonly afterChunks?: number };

/** Refuses a request, like a limit or an outage. */
export function refusalOf(
  status: number,
  message = 'The scripted model was ordered to refuse this.',
): Refusal {
  return status === 429
    ? { status, message, type: 'rate_limit_error', code: 'rate_limit_exceeded', param: null }
    : {
        status,
        message,
        type: status < 500 ? 'invalid_request_error' : 'server_error',
        code: null,
        param: null,
      };
}

/** Ends a stream that has begun, in the way of this fault. `next` is the text of the chunk that would come next. */
export function breakStream(fault: ModelFault, res: ServerResponse, next: string): void {
  switch (fault.kind) {
    case 'cut':
      res.destroy();
      return;
    case 'end':
      res.end();
      return;
    case 'malformed':
      res.end(`data: ${next.slice(0, Math.ceil(next.length / 2))}\n\n`);
      return;
    case 'error':
      res.end(`data: ${JSON.stringify(errorBody(refusalOf(500)))}\n\n`);
      return;
    default:
      // A hang lasts until the caller disconnects. A refusal comes before the stream begins.
      return;
  }
}

/** Sends half of a whole reply, in the way of this fault. */
export function breakBody(fault: ModelFault, res: ServerResponse, body: string): void {
  if (fault.kind === 'hang') return;
  const half = body.slice(0, Math.ceil(body.length / 2));
  if (fault.kind === 'malformed' || fault.kind === 'end') {
    res.writeHead(200, { 'content-type': 'application/json' }).end(half);
    return;
  }
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  res.write(half, () => res.destroy());
}
