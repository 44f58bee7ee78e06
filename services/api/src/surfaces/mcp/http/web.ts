import type { Reply, RequestHead } from '../../../http/route.ts';
import { BOTH_TYPES, EVENT_HEADERS, responseIn, type Taken } from './accept.ts';

/** A request as the SDK of MCP takes it; its body is handed over beside it. */
export function webRequestOf(head: Pick<RequestHead, 'url' | 'headers'>, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(head.headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) headers.set(name, value);
  }
  // The client's own `Accept` is heeded with the reply: the SDK knows none of its rules.
  headers.set('accept', BOTH_TYPES);
  return new Request(new URL(pathOf(head.url), 'http://parley'), { method: 'POST', headers, signal });
}

// Of a body that this request does not carry.
const HOP_BY_HOP = new Set(['connection', 'content-length', 'transfer-encoding', 'expect', 'upgrade']);

function pathOf(url: string): string {
  return url.startsWith('/') ? url : '/';
}

/** A reply of the SDK as a reply of a route. Where the client takes no events, it waits for the last, which is the response. */
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
