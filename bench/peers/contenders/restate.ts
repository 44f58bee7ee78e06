import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { type Context, createEndpointHandler, service } from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { microseconds } from '../../measurement.ts';
import { QUESTION } from '../../pod/engine.ts';
import type { Contender } from '../../processes/contenders.ts';
import { inSlots } from '../../slots.ts';
import type { RestateUrls } from '../servers/restate.ts';

const SLOTS = 32;

interface Input {
  readonly index: number;
  readonly question: object;
}

/**
 * A durable handler of the asker for each question, which waits for its awakeable. Another process resolves it over HTTP.
 */
export async function openPeer(address: string): Promise<Contender> {
  provideWithResolvers();
  const urls = JSON.parse(address) as RestateUrls;
  const ingress = connect({ url: urls.ingress });
  let asker: ReturnType<typeof serveAsker> | undefined;
  return {
    async open(count, _streams, onResumed) {
      asker ??= serveAsker(urls);
      return (await asker)(count, onResumed);
    },
    async settle(id) {
      await ingress.resolveAwakeable(id, { environment: 'staging', at: microseconds() });
    },
  };
}

/** Node 20 has no Promise.withResolvers, which the SDK calls. */
function provideWithResolvers(): void {
  if ('withResolvers' in Promise) return;
  const withResolvers = <Value>() => {
    let settlers: object = {};
    const promise = new Promise<Value>((resolve, reject) => {
      settlers = { resolve, reject };
    });
    return { promise, ...settlers };
  };
  Object.assign(Promise, { withResolvers });
}

async function serveAsker({ ingress, admin }: RestateUrls) {
  let resumed: (startedAt: number) => void = () => undefined;
  let shown: (index: number, id: string) => void = () => undefined;
  const asker = service({
    name: 'asker',
    handlers: {
      ask: async (context: Context, { index }: Input): Promise<void> => {
        const { id, promise } = context.awakeable<{ at: number }>();
        await context.run('show', () => shown(index, id));
        resumed((await promise).at);
      },
    },
  });
  // The SDK writes two lines for each invocation by default.
  const server = createServer(createEndpointHandler({ services: [asker], logger: () => undefined }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const registered = await fetch(`${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri }),
  });
  if (!registered.ok) throw new Error(`Restate refuses the service: ${await registered.text()}`);
  const client = connect({ url: ingress }).serviceSendClient<typeof asker>({ name: 'asker' });
  return async (count: number, onResumed: (startedAt: number) => void): Promise<string[]> => {
    resumed = onResumed;
    const ids = new Map<number, string>();
    const allShown = new Promise<void>((resolve) => {
      shown = (index, id) => {
        ids.set(index, id);
        if (ids.size === count) resolve();
      };
    });
    await inSlots(count, SLOTS, async (index) => {
      await client.ask({ index, question: QUESTION });
    });
    await allShown;
    // The server stores the end of each `show`; those writes must not fall into the race.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return [...ids.values()];
  };
}
