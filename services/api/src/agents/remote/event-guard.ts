import { createEventSplitter, dataOf } from '../mcp/transports/events.ts';

/**
 * Ends an event stream at the first event whose data is not JSON. The SDK would write such data, which a remote agent controls,
 * to the console. Other responses stay unchanged.
 */
export function guardEvents(response: Response): Response {
  const isStream =
    response.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
  if (!isStream || response.body === null) return response;
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(createGuard()), { status, headers });
}

/**
 * The rate at which a stream is read after a first burst. Events are hints that are parsed one by one, so an agent that streams
 * without end must not use more.
 */
const BYTES_PER_MS = 256;
const BURST_MS = 10_000;

/** Makes a function that waits after each chunk for as long as its bytes take at that rate. */
function createPace(): (bytes: number) => Promise<void> {
  let paidUntil = Number.NEGATIVE_INFINITY;
  return async (bytes) => {
    const now = performance.now();
    paidUntil = Math.max(paidUntil, now - BURST_MS) + bytes / BYTES_PER_MS;
    if (paidUntil > now) await new Promise((resolve) => setTimeout(resolve, paidUntil - now).unref());
  };
}

/** Passes on whole events. A chunk without the end of an event is kept. */
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
