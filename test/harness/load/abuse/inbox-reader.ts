import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';

const AGAIN_MS = 50;

/** Reads the inbox of a user until it is stopped; `onQuestion` gets every change of a question, and the snapshots. */
export function followInbox(
  fetchFrom: typeof fetch,
  token: string,
  onQuestion: (id: string, status: string) => void,
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const parser = createParser({
    onEvent({ data }) {
      const { elicitationId, status, elicitations } = JSON.parse(data) as Record<string, unknown>;
      const all = (elicitations ?? [{ elicitationId, status }]) as Record<string, unknown>[];
      for (const one of all) onQuestion(String(one.elicitationId), String(one.status));
    },
  });
  const read = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetchFrom('http://pod/v1/inbox/events', { headers, signal: stopping.signal });
    if (response.body === null) return;
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) parser.feed(text);
  };
  const reading = (async () => {
    while (!stopping.signal.aborted) {
      parser.reset();
      await read().catch(() => undefined);
      await sleep(AGAIN_MS);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await reading;
    },
  };
}
