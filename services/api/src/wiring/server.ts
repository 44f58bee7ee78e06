import { createServer, type RequestListener, type Server } from 'node:http';
import { serveWellFormed } from '../http/malformed.ts';

// Longer than a load balancer keeps idle connections (60 s), so that the load balancer closes them, not this server.
const KEEP_ALIVE_MS = 70_000;
const CLOSE_IDLE_EVERY_MS = 100;

/** How long a request may take to arrive until its connection is closed, and how often that is checked; in ms. */
export interface RequestTimeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
}

const REQUEST_TIMEOUTS: RequestTimeouts = { headersMs: 15_000, requestMs: 30_000, checkMs: 1_000 };

/** Starts an HTTP server. Resolves when it listens. Port 0 selects a free port. */
export async function listen(
  handler: RequestListener,
  port: number,
  host: string,
  { headersMs, requestMs, checkMs }: RequestTimeouts = REQUEST_TIMEOUTS,
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

/** Accepts no new connections, lets requests finish, and closes the remaining connections after `deadlineMs`. */
export async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearInterval(idle);
  clearTimeout(cut);
}
