import { createServer, type RequestListener, type Server } from 'node:http';
import { serveWellFormed } from '../http/malformed.ts';

const CLOSE_IDLE_EVERY_MS = 100;
// Connections that the system accepts for the pod ahead of it, up to its own limit. When a pod dies, its readers come to
// the others at once; those beyond are not refused but tried again by their own system, a second and more later.
const BACKLOG = 4_096;

/** Times of connections, in ms. */
interface ConnectionTimes {
  /** How long an idle connection is kept. A load balancer must close it first. */
  readonly keepAliveMs: number;
  /** How long a request may take to arrive until its connection is closed, and how often that is checked. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
}

const CONNECTION_TIMES: ConnectionTimes = {
  keepAliveMs: 70_000,
  headersMs: 15_000,
  requestMs: 30_000,
  checkMs: 1_000,
};

/** Starts an HTTP server. Resolves when it listens. Port 0 selects a free port. */
export async function listen(
  handler: RequestListener,
  port: number,
  host: string,
  times: Partial<ConnectionTimes> = {},
): Promise<Server> {
  const { keepAliveMs, headersMs, requestMs, checkMs } = { ...CONNECTION_TIMES, ...times };
  const server = createServer({
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkMs,
    requireHostHeader: false,
  });
  serveWellFormed(server, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, resolve);
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
