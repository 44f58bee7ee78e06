import { createParser } from 'eventsource-parser';

/** A part of the AI SDK's UI message stream, as far as the load reads it. */
export interface Chunk {
  readonly type: string;
  readonly delta?: string;
  readonly data?: { readonly elicitationId: string; readonly status: string };
}

/** Reads the events of a reply until it ends; `[DONE]` is left out. */
export async function readChunks(response: Response, onChunk: (chunk: Chunk) => void): Promise<void> {
  const parser = createParser({
    onEvent({ data }) {
      if (data !== '[DONE]') onChunk(JSON.parse(data) as Chunk);
    },
  });
  if (response.body === null) return;
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) parser.feed(text);
}
