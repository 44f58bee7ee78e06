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

/** Passes whole events on. The size of an event is limited before. A chunk without the end of an event is only kept. */
function createGuard(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let kept: string[] = [];
  /** The last characters of what is kept: the end of an event may be cut in two. */
  let tail = '';
  return new TransformStream({
    transform(chunk, controller) {
      const text = decoder.decode(chunk, { stream: true });
      kept.push(text);
      const recent = tail + text;
      tail = recent.slice(-2);
      if (!/\n\r?\n/.test(recent)) return;
      const events = kept.join('').split(/(?<=\n\r?\n)/);
      const last = events.at(-1) ?? '';
      const rest = /\n\r?\n$/.test(last) ? '' : (events.pop() ?? '');
      kept = [rest];
      tail = rest.slice(-2);
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
