import { type MetricsPush, OTLP_PROTOCOLS } from '../observe/push-readers.ts';
import type { TelemetryExports } from '../observe/telemetry.ts';
import { type Env, EnvError } from './env.ts';

/**
 * What the process exports. Undefined when it exports nothing; then the OpenTelemetry SDK is not loaded. The SDK alone would
 * send to a collector on this machine by default; Parley exports only when a variable asks for it. Throws `EnvError` for an
 * unknown exporter or protocol.
 */
export function telemetryExports(env: Env): TelemetryExports | undefined {
  if (env.OTEL_SDK_DISABLED === 'true') return undefined;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const traces = exporters(env.OTEL_TRACES_EXPORTER, base ?? env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
  const logs = exporters(env.OTEL_LOGS_EXPORTER, undefined);
  const metrics = exporters(env.OTEL_METRICS_EXPORTER, base ?? env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)
    // The metrics port always serves Prometheus scrapes, so this exporter needs no setup.
    .filter((name) => name !== 'prometheus');
  if (traces.length + logs.length + metrics.length === 0) return undefined;
  return {
    traces: traces.length > 0,
    logs: logs.length > 0,
    metrics: metrics.map((name) => metricsPush(env, name)),
  };
}

/** The exporters of a list variable; `otlp` when the variable is unset and an endpoint is configured. */
function exporters(names: readonly string[], endpoint: string | undefined): readonly string[] {
  if (names.length === 0) return endpoint === undefined ? [] : ['otlp'];
  return names.includes('none') ? [] : names;
}

function metricsPush(env: Env, name: string): MetricsPush {
  const times = { everyMs: env.OTEL_METRIC_EXPORT_INTERVAL, timeoutMs: env.OTEL_METRIC_EXPORT_TIMEOUT };
  if (name === 'console') return { exporter: 'console', ...times };
  if (name !== 'otlp') {
    throw new EnvError([
      `OTEL_METRICS_EXPORTER: unknown exporter ${JSON.stringify(name)}; use otlp, console or none.`,
    ]);
  }
  const wanted =
    env.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  const exporter = OTLP_PROTOCOLS.find((protocol) => protocol === wanted);
  if (exporter === undefined) {
    throw new EnvError([
      `OTEL_EXPORTER_OTLP_PROTOCOL: unknown protocol ${JSON.stringify(wanted)}; use ${OTLP_PROTOCOLS.join(', ')}.`,
    ]);
  }
  return { exporter, ...times };
}
