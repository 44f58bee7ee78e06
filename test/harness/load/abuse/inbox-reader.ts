import { setTimeout as sleep } from 'node:timers/promises';
import { readEvents } from '../../http/read-events.ts';

const AGAIN_MS = 50;

/** Reads the inbox of a user until it is stopped; `onQuestion` gets every change of a question, and the snapshots. */
export function followInbox(
  fetchFrom: typeof fetch,
  token: string,
  onQuestion: (id: string, status: string) => void,
): { stop: () => Promise<void> } {
  const stopping = new AbortController();
  const read = async () => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetchFrom('http://pod/v1/inbox/events', { headers, signal: stopping.signal });
    await readEvents(response, ({ data }) => {
      const { elicitationId, status, elicitations } = JSON.parse(data) as Record<string, unknown>;
      const all = (elicitations ?? [{ elicitationId, status }]) as Record<string, unknown>[];
      for (const one of all) onQuestion(String(one.elicitationId), String(one.status));
    });
  };
  const reading = (async () => {
    while (!stopping.signal.aborted) {
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
