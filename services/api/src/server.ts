import { createServer, type RequestListener, type Server } from 'node:http';

// Longer than a load balancer keeps idle connections (60 s), so that it is the one to close them.
const KEEP_ALIVE_MS = 70_000;
// A request that trickles in is cut off: headers within 15 s, the whole of it within 30 s.
const HEADERS_MS = 15_000;
const REQUEST_MS = 30_000;
const CLOSE_IDLE_EVERY_MS = 100;

/** Opens an HTTP server and waits until it listens. Port 0 picks a free one. */
export async function listen(handler: RequestListener, port: number, host: string): Promise<Server> {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS },
    handler,
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

/** The port a server listens on. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Takes no new connections, lets requests finish, and cuts what is left after `deadlineMs`. */
export async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(idle);
  clearTimeout(cut);
}
