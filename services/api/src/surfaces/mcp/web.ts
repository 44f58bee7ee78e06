import type { Reply, RequestHead } from '../../http/route.ts';

/** A request as the SDK of MCP takes it; its body is handed over beside it. */
export function webRequestOf(head: Pick<RequestHead, 'url' | 'headers'>, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(head.headers)) {
    if (typeof value === 'string' && !HOP_BY_HOP.has(name)) headers.set(name, value);
  }
  return new Request(new URL(pathOf(head.url), 'http://parley'), { method: 'POST', headers, signal });
}

// Of a body that this request does not carry.
const HOP_BY_HOP = new Set(['connection', 'content-length', 'transfer-encoding', 'expect', 'upgrade']);

function pathOf(url: string): string {
  return url.startsWith('/') ? url : '/';
}

/** A reply of the SDK as a reply of a route. */
export async function replyOf(
  response: Response,
  more: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const { status, body } = response;
  const type = response.headers.get('content-type') ?? '';
  if (body === null) return { type: 'empty', status, headers: more };
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

const EVENT_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

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
