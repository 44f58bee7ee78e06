import { createServer } from 'node:http';
import { listenOnFreePort } from '../free-port.ts';
import { createSockets } from './sockets.ts';
import type { Json } from './state.ts';

/** The Socket Mode side of the stand-in alone: `apps.connections.open`, and WebSockets that get these envelopes at first. */
export async function startSocketMode(envelopes: readonly Json[]) {
  const tokens: (string | undefined)[] = [];
  let refusals = 0;
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    refusals -= 1;
    if (refusals >= 0) response.end('{"ok":false,"error":"invalid_auth"}');
    else response.end(JSON.stringify({ ok: true, url: `ws://127.0.0.1:${port}/link` }));
  });
  const sockets = createSockets(server, envelopes);
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    /** Ids of the envelopes that were acknowledged. */
    acknowledged: sockets.acknowledged,
    /** What `apps.connections.open` was called with. */
    tokens,
    /** Refuses the next so many connections. */
    refuse(times: number) {
      refusals = times;
    },
    /** Ends the connections that are open. */
    cut: sockets.cut,
    stop() {
      sockets.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}
