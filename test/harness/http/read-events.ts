import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Reads the server-sent events of a reply until it ends. Rejects when the connection breaks. */
export async function readEvents(
  { body }: Response,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  const parser = createParser({ onEvent });
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) parser.feed(text);
}
