import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOnFreePort } from '../../harness/free-port.ts';

/** A door to a server: requests whose body contains a text wait before they are passed on. */
export interface SlowDoor {
  readonly url: string;
  stop(): Promise<void>;
}

export async function openSlowDoor(target: string, pauseMs: number, marker: string): Promise<SlowDoor> {
  const { origin, pathname } = new URL(target);
  const door = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    if (body.includes(marker)) await sleep(pauseMs);
    const { method, headers } = incoming;
    const passedOn = request(new URL(incoming.url ?? '/', origin), { method, headers, agent: false });
    passedOn.once('error', () => outgoing.destroy());
    passedOn.once('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    passedOn.end(body);
  });
  const url = `http://127.0.0.1:${await listenOnFreePort(door)}${pathname}`;
  return {
    url,
    async stop() {
      door.closeAllConnections();
      await new Promise((resolve) => door.close(resolve));
    },
  };
}
