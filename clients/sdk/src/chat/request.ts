import { createHeaders } from '@parley/core';

export type HeaderSource = Readonly<Record<string, string>> | Headers;

interface ChatRequestSource {
  readonly headers?: HeaderSource | (() => HeaderSource);
  readonly body?: object | (() => object);
  readonly delivery?: 'hold' | 'detach';
}

/** Headers and body keys of one request, in addition to those of every request. */
interface ChatRequestExtras {
  readonly headers?: HeaderSource;
  readonly body?: object;
}

/** The headers of a chat's request, with names in lower case. Throws `invalid_request` for invalid ones. */
export function chatHeaders(
  source: ChatRequestSource,
  { headers }: ChatRequestExtras,
): Record<string, string> {
  const own = typeof source.headers === 'function' ? source.headers() : source.headers;
  const all = createHeaders({ 'x-supports-elicitation': 'true' });
  for (const more of [own, headers]) for (const [name, value] of createHeaders(more)) all.set(name, value);
  if (source.delivery !== undefined) all.set('x-parley-delivery', source.delivery);
  return { ...Object.fromEntries(all), accept: 'text/event-stream' };
}

/** The keys that are added to the body of a chat's message. */
export function chatExtras(source: ChatRequestSource, { body }: ChatRequestExtras): object {
  const own = typeof source.body === 'function' ? source.body() : source.body;
  return { ...own, ...body };
}
