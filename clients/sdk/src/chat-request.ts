import type { UIMessage } from 'ai';

export type HeaderSource = Readonly<Record<string, string>> | Headers;

export interface ChatRequestSource {
  readonly headers?: HeaderSource | (() => HeaderSource);
  readonly body?: object | (() => object);
  readonly delivery?: 'hold' | 'detach';
}

/** What goes with one request of a chat, beside what every request has. */
export interface ChatRequestExtras {
  readonly headers?: HeaderSource;
  readonly body?: object;
}

const ANSWER = 'data-elicitation-response';

/** The headers of a chat's request, their names in lower case. */
export function chatHeaders(source: ChatRequestSource, { headers }: ChatRequestExtras) {
  const own = typeof source.headers === 'function' ? source.headers() : source.headers;
  const all = new Headers({ 'x-supports-elicitation': 'true' });
  for (const more of [own, headers]) for (const [name, value] of new Headers(more)) all.set(name, value);
  if (source.delivery !== undefined) all.set('x-parley-delivery', source.delivery);
  return { ...Object.fromEntries(all), accept: 'text/event-stream' };
}

/** The body of a message; what the chat says of it comes before what is added to it. */
export function chatBody(source: ChatRequestSource, { body }: ChatRequestExtras, said: object): object {
  const own = typeof source.body === 'function' ? source.body() : source.body;
  return { ...own, ...body, ...said };
}

/** Whether the last message answers a question; an equal answer may be sent twice. */
export function isAnswer(messages: readonly UIMessage[]): boolean {
  return messages.at(-1)?.parts.some(({ type }) => type === ANSWER) === true;
}
