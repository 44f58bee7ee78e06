import { waitUntil } from '../wait-until.ts';

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: Record<string, unknown>;
}

/** An open event stream, read as it comes. */
export interface OpenStream {
  readonly status: number;
  /** All that came so far, as it came. */
  text(): string;
  events(): StreamEvent[];
  /** The `index`-th event, once it is there. */
  event(index: number): Promise<StreamEvent>;
  close(): void;
}

/** Opens an event stream; one that is refused has a status and a text. */
export async function openStream(
  pod: { readonly url: string },
  path: string,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  const left = new AbortController();
  const response = await fetch(`${pod.url}${path}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: left.signal,
  });
  const decoder = new TextDecoder();
  let text = '';
  void (async () => {
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  })().catch(() => undefined);
  const events = () => eventsIn(text);
  return {
    status: response.status,
    text: () => text,
    events,
    event: (index) => waitUntil(() => events()[index], { what: `event ${index} of ${path}` }),
    close: () => left.abort(),
  };
}

/** What a browser makes of the text: WHATWG HTML, "interpreting an event stream". */
function eventsIn(text: string): StreamEvent[] {
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 1);
  return whole.split(/\n\n/).flatMap((block) => {
    const fields = block
      .split(/\r\n|\r|\n/)
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const)
      .filter(([name]) => name !== '');
    const all = (name: string) => fields.filter(([field]) => field === name).map(([, value]) => value);
    if (all('data').length === 0) return [];
    return [{ id: all('id').at(-1), event: all('event').at(-1), data: JSON.parse(all('data').join('\n')) }];
  });
}
