export interface PythonEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/**
 * Events as the decoder reads them that Python's clients share: openai, other clients of the same generator, and httpx-sse, which
 * the Python SDKs of A2A and MCP use. It differs from the standard: an empty line ends an event that has an id or a delay and
 * no data, and the id of an earlier event counts.
 */
export function pythonEvents(text: string): readonly PythonEvent[] {
  const events: PythonEvent[] = [];
  let event: string | undefined;
  let data: string[] = [];
  let hasId = false;
  let hasRetry = false;
  // What follows the last line break is no line yet.
  for (const line of text.split(/\r\n|\r|\n/).slice(0, -1)) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line.startsWith(':')) continue;
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') hasId = value !== '';
    else if (field === 'retry') hasRetry = /^\d+$/.test(value);
    else if (line === '' && (event || data.length > 0 || hasId || hasRetry)) {
      events.push({ event, data: data.join('\n') });
      event = undefined;
      data = [];
      hasRetry = false;
    }
  }
  return events;
}
