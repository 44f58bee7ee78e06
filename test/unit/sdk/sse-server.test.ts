import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { type SseFrameEvent, sendEvents } from '../../../services/api/src/http/sse.ts';
import { waitUntil } from '../../harness/wait-until.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const EVENTS = 2_000;

it('a stream does not retain the events that it has sent', async () => {
  const sent: WeakRef<object>[] = [];
  async function* events(): AsyncGenerator<SseFrameEvent, void> {
    for (let index = 0; index < EVENTS; index += 1) {
      const data = { index };
      sent.push(new WeakRef(data));
      yield { event: 'elicitation-updated', data };
    }
    await new Promise(() => undefined);
  }
  const draining = new AbortController();
  const server = createServer((_req, res) => {
    const options = { heartbeatMs: 60_000, slowReaderMs: 60_000, draining: draining.signal };
    void sendEvents(res, { events: events() }, options);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`);
  let text = '';
  const decoder = new TextDecoder();
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })();
  await waitUntil(async () => text.includes(`{"index":${EVENTS - 1}}`), { what: 'the last event' });
  await waitUntil(
    async () => {
      collect();
      return sent.filter((event) => event.deref() !== undefined).length < EVENTS / 100;
    },
    { what: 'the events to be collected', timeoutMs: 20_000 },
  );
  draining.abort();
  // A clean end would read as the end of the stream.
  await expect(reading).rejects.toThrow('terminated');
  expect(text).toMatch(/^retry: \d+\n\n/);
  expect(text).toMatch(/\n\nretry: \d+\n\n$/);
  await new Promise((resolve) => server.close(resolve));
});
