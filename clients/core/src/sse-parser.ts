/** One server-sent event. */
export interface SseEvent {
  /** `message` unless the event names another type. */
  readonly event: string;
  /** The event's own id. The id of an earlier event is not inherited. */
  readonly id: string | undefined;
  readonly data: string;
}

export interface SseHandlers {
  readonly onEvent: (event: SseEvent) => void;
  /** Called for each comment; Parley's heartbeats are comments. */
  readonly onComment?: (() => void) | undefined;
  /** Called with the server's reconnection time, in ms. */
  readonly onRetry?: ((delayMs: number) => void) | undefined;
}

/** Parses an event stream (WHATWG HTML, server-sent events). The returned function takes the text in pieces of any size. */
export function createSseParser({ onEvent, onComment, onRetry }: SseHandlers): (text: string) => void {
  /** The last line, if it is not complete yet. */
  let partialLine = '';
  let endedInReturn = false;
  let event = '';
  let id: string | undefined;
  let data: string[] = [];

  function parseLine(line: string): void {
    if (line === '') {
      if (data.length > 0) onEvent({ event: event || 'message', id, data: data.join('\n') });
      event = '';
      id = undefined;
      data = [];
      return;
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (name === '') onComment?.();
    else if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) onRetry?.(Number(value));
  }

  return (text) => {
    if (text === '') return;
    // A CRLF may be split between two pieces.
    const lines = (endedInReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\r|\n/);
    endedInReturn = text.endsWith('\r');
    lines[0] = partialLine + lines[0];
    partialLine = lines.pop() ?? '';
    for (const line of lines) parseLine(line);
  };
}
