/**
 * Splits an event stream into whole events, each with the empty line that ends it. In the result all lines end with a newline.
 * The size of an event must be limited before.
 */
interface EventSplitter {
  /** The events that end in this chunk. */
  take(chunk: Uint8Array): string[];
  /** The text after the last whole event. */
  rest(): string;
}

export function createEventSplitter(): EventSplitter {
  const decoder = new TextDecoder();
  let kept: string[] = [];
  let isAfterNewline = false;
  /** A carriage return at the end of a chunk may be the first half of a line ending. */
  let held = '';

  return {
    take(chunk) {
      const given = held + decoder.decode(chunk, { stream: true });
      held = given.endsWith('\r') ? '\r' : '';
      const text = given.slice(0, given.length - held.length).replace(/\r\n?/g, '\n');
      if (text === '') return [];
      kept.push(text);
      const hasEnd = text.includes('\n\n') || (isAfterNewline && text.startsWith('\n'));
      isAfterNewline = text.endsWith('\n');
      if (!hasEnd) return [];
      const events = kept.join('').split(/(?<=\n\n)/);
      const rest = events.at(-1)?.endsWith('\n\n') === true ? '' : (events.pop() ?? '');
      kept = [rest];
      isAfterNewline = rest.endsWith('\n');
      return events;
    },
    rest: () => kept.join(''),
  };
}

/** The data of an event. */
export function dataOf(event: string): string {
  return event
    .split('\n')
    .flatMap((line) => (isData(line) ? [line.slice('data:'.length).replace(/^ /, '')] : []))
    .join('\n');
}

/** The event with its data replaced. `data` is one line. */
export function withData(event: string, data: string): string {
  const others = event.split('\n').filter((line) => line !== '' && !isData(line));
  return [...others, `data: ${data}`, '', ''].join('\n');
}

function isData(line: string): boolean {
  return line.startsWith('data:');
}
