import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { BackendHealth } from '@parley/shared/ports/backend';
import type { RedisFault } from '@parley/shared/ports/redis-diagnosis';

interface OpsDeps {
  readonly health: () => Promise<BackendHealth>;
  /** Why Redis cannot be used; undefined if no reason is known. */
  readonly redisFault: () => RedisFault | undefined;
  /** True from the start of job processing until the drain. */
  readonly working: () => boolean;
  readonly metrics: RequestListener;
}

/** Health, readiness and metrics of a worker, for operators and probes. */
export function createOps({ health, redisFault, working, metrics }: OpsDeps): RequestListener {
  return (req, res) => {
    if (req.method !== 'GET') return send(res, 405, { status: 'use GET' });
    switch (req.url) {
      case '/healthz':
        return send(res, 200, { status: 'ok' });
      case '/readyz':
        return void sendReady(res, { health, redisFault, working });
      case '/metrics':
        return metrics(req, res);
      default:
        return send(res, 404, { status: 'not found' });
    }
  };
}

/** The worker is ready if Redis answers and jobs are processed. The canary is shown for information only. */
async function sendReady(
  res: ServerResponse,
  { health, redisFault, working }: Omit<OpsDeps, 'metrics'>,
): Promise<void> {
  const { commands, timerCanaryAgeMs } = await health();
  const ready = commands && working();
  const fault = commands ? undefined : redisFault();
  send(res, ready ? 200 : 503, {
    status: ready ? 'ready' : 'not ready',
    commands,
    working: working(),
    ...(fault !== undefined && { reason: fault.code }),
    ...(timerCanaryAgeMs !== undefined && { timerCanaryAgeSeconds: Math.round(timerCanaryAgeMs / 1000) }),
  });
}

function send(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  res.end(JSON.stringify(body));
}

/** Starts the ops server. `closeOps` closes it. */
export async function listenOps(ops: RequestListener, port: number, host: string): Promise<Server> {
  const server = createServer(ops);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

/** Closes the server at once. An interrupted scrape does no harm. */
export async function closeOps(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
