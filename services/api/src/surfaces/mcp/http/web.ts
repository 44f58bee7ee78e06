import type { Reply, RequestHead } from '../../../http/route.ts';
import { BOTH_TYPES, EVENT_HEADERS, responseIn, type Taken } from './accept.ts';

/** Converts a request for MCP's SDK, which gets the body separately. */
export function webRequestOf(head: Pick<RequestHead, 'url' | 'headers'>, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(head.headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) headers.set(name, value);
  }
  // The SDK does not follow the rules of `Accept`, so the client's own `Accept` is applied to the reply instead.
  headers.set('accept', BOTH_TYPES);
  return new Request(new URL(pathOf(head.url), 'http://parley'), { method: 'POST', headers, signal });
}

// Headers that describe a body, which this request does not carry.
const HOP_BY_HOP = new Set(['connection', 'content-length', 'transfer-encoding', 'expect', 'upgrade']);

function pathOf(url: string): string {
  return url.startsWith('/') ? url : '/';
}

/** Converts a reply of the SDK. If the client accepts no events, waits for the last event, which is the response. */
export async function replyOf(
  response: Response,
  takes: Taken,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const { status, body } = response;
  const type = response.headers.get('content-type') ?? '';
  if (body === null) return { type: 'empty', status, headers: more };
  if (type.startsWith('text/event-stream') && !takes.events)
    return { type: 'json', status, body: responseIn(await response.text()), headers: more };
  if (type.startsWith('text/event-stream'))
    return { type: 'pieces', pieces: textOf(body), headers: { ...EVENT_HEADERS, ...more } };
  const allow = response.headers.get('allow');
  return {
    type: 'json',
    status,
    body: await response.json(),
    headers: { ...(allow !== null && { allow }), ...more },
  };
}

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, 'end'> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 'end';
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
