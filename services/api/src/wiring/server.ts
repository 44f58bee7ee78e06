import { createServer, type RequestListener, type Server } from 'node:http';
import { serveWellFormed } from '../http/malformed.ts';

// Longer than a load balancer keeps idle connections (60 s), so that it is the one to close them.
const KEEP_ALIVE_MS = 70_000;
const CLOSE_IDLE_EVERY_MS = 100;

/** How long a request may trickle in before it is cut off, and how often that is looked at; ms. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
}

const PATIENCE: Patience = { headersMs: 15_000, requestMs: 30_000, checkMs: 1_000 };

/** Opens an HTTP server and waits until it listens. Port 0 picks a free one. */
export async function listen(
  handler: RequestListener,
  port: number,
  host: string,
  { headersMs, requestMs, checkMs }: Patience = PATIENCE,
): Promise<Server> {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    requireHostHeader: false,
  });
  serveWellFormed(server, handler);
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
