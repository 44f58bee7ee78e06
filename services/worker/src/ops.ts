import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { BackendHealth } from '@parley/shared/ports/backend';

export interface OpsDeps {
  readonly health: () => Promise<BackendHealth>;
  /** True from the first moment at which jobs were taken, until the worker drains. */
  readonly working: () => boolean;
  readonly metrics: RequestListener;
}

/** What operators and probes ask a worker: is it alive, is it ready, how does it fare. */
export function createOps({ health, working, metrics }: OpsDeps): RequestListener {
  return (req, res) => {
    if (req.method !== 'GET') return send(res, 405, { status: 'use GET' });
    switch (req.url) {
      case '/healthz':
        return send(res, 200, { status: 'ok' });
      case '/readyz':
        return void sendReady(res, health, working);
      case '/metrics':
        return metrics(req, res);
      default:
        return send(res, 404, { status: 'not found' });
    }
  };
}

/** Ready: Redis answers and jobs are taken. The canary only informs. */
async function sendReady(
  res: ServerResponse,
  health: OpsDeps['health'],
  working: OpsDeps['working'],
): Promise<void> {
  const { commands, timerCanaryAgeMs } = await health();
  const ready = commands && working();
  send(res, ready ? 200 : 503, {
    status: ready ? 'ready' : 'not ready',
    commands,
    working: working(),
    ...(timerCanaryAgeMs !== undefined && { timerCanaryAgeSeconds: Math.round(timerCanaryAgeMs / 1000) }),
  });
}

function send(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' });
  res.end(JSON.stringify(body));
}

/** Listens with it; the returned server closes with `closeOps`. */
export async function listenOps(ops: RequestListener, port: number, host: string): Promise<Server> {
  const server = createServer(ops);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}

/** Closes it at once: nobody minds a scrape that is cut off. */
export async function closeOps(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
