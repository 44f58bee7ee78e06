/**
 * Connects a process to OpenTelemetry: metrics for scrapes always, other exports only when configured. What is measured is in
 * `metrics.ts` and the observers.
 */

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  type Context,
  context,
  type Meter,
  propagation,
  ROOT_CONTEXT,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { type IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics';
import { within } from '../async/time-limit.ts';
import { createPushReaders, type MetricsPush } from './push-readers.ts';

/** What the process exports. The SDK reads destinations and protocols from the standard `OTEL_*` variables. */
export interface TelemetryExports {
  readonly traces: boolean;
  readonly logs: boolean;
  readonly metrics: readonly MetricsPush[];
}

interface TelemetryOptions {
  /** The default of `OTEL_SERVICE_NAME`. */
  readonly service: string;
  readonly pod: string;
  readonly version: string;
  /** If absent, nothing is exported, and metrics can only be scraped. */
  readonly exports?: TelemetryExports | undefined;
}

export interface Telemetry {
  /** Makes spans. They are exported if trace export is configured, or if another SDK of the process handles them. */
  readonly tracer: Tracer;
  readonly meter: Meter;
  /** Calls `run` within the trace named in a request's headers, if any. An active span of the process has priority. */
  continuing<T>(headers: IncomingHttpHeaders, run: () => T): T;
  /** The parent context for new spans. */
  context(): Context;
  /** Answers a scrape in the Prometheus text format. */
  metricsHandler(request: IncomingMessage, response: ServerResponse): void;
  /** Exports remaining data. Takes at most two seconds and never rejects. */
  shutdown(): Promise<void>;
}

const SCOPE = 'parley';
const SHUTDOWN_MS_MAX = 2_000;

/**
 * Starts metrics for scrapes, and the OpenTelemetry SDK if anything is exported. The SDK registers itself globally, so that
 * instrumentation added by a team joins the same traces; if a team registered its own providers earlier, those get the spans.
 * If the collector is unavailable, only telemetry is lost.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { exports, version } = options;
  const resource = resourceOf(options);
  const scrapes = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const pushes = exports === undefined ? [] : await createPushReaders(exports.metrics);
  const meters = createMeters(resource, [scrapes, ...pushes]);
  const sdk = exports === undefined ? undefined : await startSdk(resource, exports);

  return {
    tracer: trace.getTracer(SCOPE, version),
    meter: meters.getMeter(SCOPE, version),
    continuing(headers, run) {
      if (trace.getSpan(context.active()) !== undefined) return run();
      return context.with(propagation.extract(ROOT_CONTEXT, headers), run);
    },
    context: () => context.active(),
    metricsHandler: (request, response) => scrapes.getMetricsRequestHandler(request, response),
    shutdown: async () => {
      await within(SHUTDOWN_MS_MAX, Promise.allSettled([sdk?.shutdown(), meters.shutdown()]));
    },
  };
}

function resourceOf({ service, pod, version }: TelemetryOptions): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': service,
      'service.version': version,
      'service.instance.id': pod,
    }),
  );
}

/** Parley makes its own meter provider: one variable fixes the SDK's list of metric readers, but scrapes must always work. */
function createMeters(resource: Resource, readers: IMetricReader[]): MeterProvider {
  const detected = detectResources({ detectors: [envDetector] });
  return new MeterProvider({ resource: resource.merge(detected), readers });
}

// The SDK is loaded on demand, because it is large and small installations do not need it.
async function startSdk(resource: Resource, { traces, logs }: TelemetryExports) {
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const sdk = new NodeSDK({
    resource,
    metricReaders: [],
    // Without these empty lists, the SDK would by default export to a local collector.
    ...(!traces && { spanProcessors: [] }),
    ...(!logs && { logRecordProcessors: [] }),
  });
  sdk.start();
  return sdk;
}
