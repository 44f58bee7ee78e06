import type { RequestListener, Server } from 'node:http';
import { type Env, EnvError, listenFault, readEnv, warningsOf } from '@parley/shared/config/env';
import { telemetryExports } from '@parley/shared/config/telemetry-env';
import { startTelemetry } from '@parley/shared/observe/telemetry';
import { exitAtSignals, onShutdown, STOP_SIGNALS } from '@parley/shared/runtime/lifecycle';
import { startWatchdog } from '@parley/shared/runtime/watchdog';
import { AgentsConfigError } from './agents/config/fault.ts';
import { closeServer, listen, portOf } from './wiring/server.ts';
import { type Pod, readVersion, wirePod } from './wiring/wiring.ts';

const READY_POLL_MS = 50;
const CLOSE_SHARE = 0.75;

async function main(): Promise<void> {
  const env = readEnv('api');
  const endStart = exitAtSignals(STOP_SIGNALS);
  startWatchdog({ limitMs: env.PARLEY_STALL_MS });
  const telemetry = await startTelemetry({
    service: 'parley-api',
    pod: env.PARLEY_POD,
    version: readVersion(),
    exports: telemetryExports(env),
  });
  const pod = await wirePod(env, telemetry);
  const warnings = warningsOf(env, 'api');
  if (warnings.length > 0)
    pod.log.warn({ warnings }, 'these settings are for development or deserve attention');
  const server = await listenOn('PORT', env, pod.app);
  const metricsServer =
    env.PARLEY_METRICS_PORT === 0 ? undefined : await listenOn('PARLEY_METRICS_PORT', env, metricsOnly(pod));
  onShutdown({
    signals: STOP_SIGNALS,
    exit: (code) => process.exit(code),
    drain: () => drain(env, pod, [server, ...(metricsServer === undefined ? [] : [metricsServer])]),
    deadlineMs: env.PARLEY_DRAIN_MS,
    log: pod.log,
  });
  endStart();
  await untilReady(pod);
  // Scripts wait for this line. All other lines on standard output are log lines.
  process.stdout.write(
    `${JSON.stringify({ listening: true, port: portOf(server), pod: env.PARLEY_POD, backend: pod.backendKind })}\n`,
  );
}

async function listenOn(variable: 'PORT' | 'PARLEY_METRICS_PORT', env: Env, app: RequestListener) {
  const host = variable === 'PORT' ? env.PARLEY_HOST : env.PARLEY_METRICS_HOST;
  return listen(app, env[variable], host, { keepAliveMs: env.PARLEY_KEEP_ALIVE_MS }).catch(
    (error: NodeJS.ErrnoException) => {
      throw listenFault(variable, env, error);
    },
  );
}

function metricsOnly(pod: Pod) {
  return (...[req, res]: Parameters<Pod['metrics']>) => {
    if (req.method === 'GET' && req.url === '/metrics') pod.metrics(req, res);
    else res.writeHead(404).end();
  };
}

async function untilReady(pod: Pod): Promise<void> {
  while (!(await pod.ready())) await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  await pod.checkRedis();
}

/**
 * Ends a pod. It becomes not ready at once, and ends its streams and long polls, whose clients reconnect to other pods. Load
 * balancers have PARLEY_DRAIN_DELAY_MS to notice. Then the servers close and Redis is released.
 */
async function drain(env: Env, pod: Pod, servers: readonly Server[]): Promise<void> {
  const { PARLEY_DRAIN_MS: allMs, PARLEY_DRAIN_DELAY_MS: delayMs } = env;
  pod.startDraining();
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  // The rest of the time is reserved for closing Redis and sending the last telemetry.
  const closeMs = (allMs - delayMs) * CLOSE_SHARE;
  await Promise.all(servers.map((server) => closeServer(server, closeMs)));
  await pod.release();
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof EnvError || error instanceof AgentsConfigError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 1;
  setImmediate(() => process.exit());
});
