import { createEventSplitter, dataOf } from '../mcp/transports/events.ts';

/**
 * Ends an event stream at the first event whose data is no JSON. The SDK would write such data to the console, and a
 * remote agent chooses it. Other responses stay as they are.
 */
export function guardEvents(response: Response): Response {
  const isStream =
    response.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
  if (!isStream || response.body === null) return response;
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(createGuard()), { status, headers });
}

/**
 * Events are hints that are parsed one by one, so an agent that streams without end has no more than this read, after a
 * first burst.
 */
const BYTES_PER_MS = 256;
const BURST_MS = 10_000;

/** Waits after chunks, as long as their bytes take at that rate. */
function createPace(): (bytes: number) => Promise<void> {
  let paidUntil = Number.NEGATIVE_INFINITY;
  return async (bytes) => {
    const now = performance.now();
    paidUntil = Math.max(paidUntil, now - BURST_MS) + bytes / BYTES_PER_MS;
    if (paidUntil > now) await new Promise((resolve) => setTimeout(resolve, paidUntil - now).unref());
  };
}

/** Passes whole events on. A chunk without the end of an event is only kept. */
function createGuard(): TransformStream<Uint8Array, Uint8Array> {
  const encoder = new TextEncoder();
  const events = createEventSplitter();
  const pace = createPace();
  return new TransformStream({
    transform(chunk, controller) {
      for (const event of events.take(chunk)) {
        JSON.parse(dataOf(event) || 'null');
        controller.enqueue(encoder.encode(event));
      }
      return pace(chunk.length);
    },
  });
}
