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

/** Passes whole events on. The size of an event is limited before. */
function createGuard(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const events = (rest + decoder.decode(chunk, { stream: true })).split(/(?<=\r?\n\r?\n)/);
      rest = events.pop() ?? '';
      if (/\n\r?\n$/.test(rest)) {
        events.push(rest);
        rest = '';
      }
      for (const event of events) {
        JSON.parse(dataOf(event) || 'null');
        controller.enqueue(encoder.encode(event));
      }
    },
  });
}

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length).replace(/^ /, '')] : []))
    .join('\n');
}
