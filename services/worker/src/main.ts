import { EnvError, listenFault, readEnv, warningsOf } from '@parley/shared/config/env';
import { redisLocation } from '@parley/shared/config/redis-env';
import { telemetryExports } from '@parley/shared/config/telemetry-env';
import { startTelemetry } from '@parley/shared/observe/telemetry';
import { exitAtSignals, onShutdown, STOP_SIGNALS } from '@parley/shared/runtime/lifecycle';
import { startWatchdog } from '@parley/shared/runtime/watchdog';
import { closeOps, listenOps } from './ops.ts';
import { readVersion, wireWorker } from './wiring.ts';

const NO_REDIS =
  'The worker needs Redis: set REDIS_URL, PARLEY_REDIS_SENTINELS or PARLEY_REDIS_CLUSTER. Without Redis the api runs alone and does this work itself.';

async function main(): Promise<void> {
  const env = readEnv('worker');
  const endStart = exitAtSignals(STOP_SIGNALS);
  startWatchdog({ limitMs: env.PARLEY_STALL_MS });
  const location = redisLocation(env);
  if (location === undefined) throw new EnvError([NO_REDIS]);
  const telemetry = await startTelemetry({
    service: 'parley-worker',
    pod: env.PARLEY_POD,
    version: readVersion(),
    exports: telemetryExports(env),
  });
  const worker = await wireWorker(env, location, telemetry);
  const warnings = warningsOf(env, 'worker');
  if (warnings.length > 0)
    worker.log.warn({ warnings }, 'these settings are for development or deserve attention');
  const ops =
    env.PARLEY_METRICS_PORT === 0
      ? undefined
      : await listenOps(worker.ops, env.PARLEY_METRICS_PORT, env.PARLEY_METRICS_HOST).catch(
          (error: NodeJS.ErrnoException) => {
            throw listenFault('PARLEY_METRICS_PORT', env, error);
          },
        );
  onShutdown({
    signals: STOP_SIGNALS,
    exit: (code) => process.exit(code),
    async drain() {
      // The ops server closes last, so that probes get "not ready" during the drain.
      await worker.release();
      if (ops !== undefined) await closeOps(ops);
    },
    deadlineMs: env.PARLEY_DRAIN_MS,
    log: worker.log,
  });
  endStart();
  await worker.ready();
  // Scripts wait for this line. All other lines on standard output are log lines.
  process.stdout.write(`${JSON.stringify({ ready: true, pod: env.PARLEY_POD })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof EnvError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 1;
  setImmediate(() => process.exit());
});
