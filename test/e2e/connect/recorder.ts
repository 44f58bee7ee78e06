import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Recorder {
  /** A fetch that records replies of Parley, and retries after a 503 as its header demands. */
  readonly fetch: typeof fetch;
  /** Each reply so far: its head, then its body as far as it was read. */
  replies(): readonly string[];
  /** Every address that was called, Parley's and others. */
  readonly urls: readonly string[];
}

const RETRIES_MAX = 10;

/** Records what clients and browsers get from `origins`. Calls come from many addresses because each has a rate limit. */
export function createRecorder(origins: readonly string[], send: typeof fetch = globalThis.fetch): Recorder {
  const replies: { text: string }[] = [];
  const urls: string[] = [];

  async function patiently(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    for (let retries = 0; ; retries += 1) {
      const headers = new Headers(init?.headers);
      headers.set('x-forwarded-for', `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`);
      const response = await send(input, { ...init, headers });
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      if (response.status !== 503 || retries === RETRIES_MAX || Number.isNaN(seconds)) return response;
      await response.body?.cancel();
      await sleep(seconds * 1000);
    }
  }

  return {
    urls,
    replies: () => replies.map(({ text }) => text),
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input);
      urls.push(url);
      if (!origins.includes(new URL(url).origin)) return send(input, init);
      const response = await patiently(input, init);
      const entry = { text: `${response.status} ${JSON.stringify([...response.headers])}\n` };
      replies.push(entry);
      if (response.body === null) return response;
      const decoder = new TextDecoder();
      const kept = response.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(bytes, controller) {
            entry.text += decoder.decode(bytes, { stream: true });
            controller.enqueue(bytes);
          },
        }),
      );
      const { status, statusText, headers } = response;
      return new Response(kept, { status, statusText, headers });
    },
  };
}
