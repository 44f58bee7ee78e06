import { createServer, type RequestListener, type Server } from 'node:http';
import { serveWellFormed } from '../http/malformed.ts';

const CLOSE_IDLE_EVERY_MS = 100;
// How many connections the operating system accepts in advance, up to its own limit. When a pod dies, its readers come to the
// other pods at once. Connections beyond this number are not refused; their system tries again a second or more later.
const BACKLOG = 4_096;

/** Time limits of connections, in ms. */
interface ConnectionTimes {
  /** How long an idle connection is kept. A load balancer must close it before that. */
  readonly keepAliveMs: number;
  /** How long a request may take to arrive before its connection is closed, and how often that is checked. */
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

/** Starts an HTTP server. Resolves when it listens. With port 0, the system selects a free port. */
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

/** The port on which a server listens. */
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
