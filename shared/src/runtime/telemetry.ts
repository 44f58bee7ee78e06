import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  type Context,
  defaultTextMapGetter,
  type Meter,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { type IMetricReader, MeterProvider } from '@opentelemetry/sdk-metrics';

/** Where an OpenTelemetry collector takes protobuf over HTTP; each endpoint is the whole URL of its signal. */
export interface OtlpSettings {
  /** e.g. `http://collector:4318/v1/traces`; no traces without it. */
  readonly tracesEndpoint?: string;
  /** e.g. `http://collector:4318/v1/metrics`; without it metrics can only be scraped. */
  readonly metricsEndpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TelemetryOptions {
  readonly service: string;
  readonly pod: string;
  readonly version: string;
  readonly otlp: OtlpSettings | undefined;
  readonly resourceAttributes?: Readonly<Record<string, string>>;
}

export interface Telemetry {
  /** Makes spans. They are exported only when a traces endpoint is set. */
  readonly tracer: Tracer;
  readonly meter: Meter;
  /** Runs `run` within the trace of a request's W3C headers, if there is one. */
  continuing<T>(headers: IncomingHttpHeaders, run: () => T): T;
  /** Parent context of new spans: the trace of the current `continuing` call, or none. */
  context(): Context;
  /** Answers a scrape in the Prometheus text format. */
  metricsHandler(request: IncomingMessage, response: ServerResponse): void;
  /** Exports remaining data. Takes at most two seconds and never rejects. */
  shutdown(): Promise<void>;
}

const SCOPE = 'parley';
const SHUTDOWN_MS_MAX = 2_000;
const EXPORT_MS_MAX = 5_000;
const METRICS_EVERY_MS = 60_000;

/**
 * Starts metrics, and traces when an endpoint is set. Nothing is registered globally: tracer, meter and context are
 * passed on, so that several pods can run in one process. If the collector is unavailable, only telemetry is lost.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { otlp, version } = options;
  const resource = resourceOf(options);
  const scrapes = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const meters = new MeterProvider({ resource, readers: [scrapes, ...(await metricReaders(otlp))] });
  const traces = await startTraces(otlp, resource);
  const propagator = new W3CTraceContextPropagator();
  const contexts = new AsyncLocalStorage<Context>();

  return {
    tracer: (traces ?? new ProxyTracerProvider()).getTracer(SCOPE, version),
    meter: meters.getMeter(SCOPE, version),
    continuing(headers, run) {
      if (traces === undefined || headers.traceparent === undefined) return run();
      return contexts.run(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter), run);
    },
    context: () => contexts.getStore() ?? ROOT_CONTEXT,
    metricsHandler: (request, response) => scrapes.getMetricsRequestHandler(request, response),
    shutdown: () => atMost(SHUTDOWN_MS_MAX, Promise.allSettled([traces?.shutdown(), meters.shutdown()])),
  };
}

function resourceOf({ service, pod, version, resourceAttributes }: TelemetryOptions): Resource {
  return defaultResource().merge(
    resourceFromAttributes({
      ...resourceAttributes,
      'service.name': service,
      'service.version': version,
      'service.instance.id': pod,
    }),
  );
}

// The exporters are large and most processes do not need them, so they are loaded only when there is an endpoint.
async function startTraces(otlp: OtlpSettings | undefined, resource: Resource) {
  if (otlp?.tracesEndpoint === undefined) return undefined;
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-proto'),
  ]);
  const exporter = new OTLPTraceExporter(exporterOptions(otlp.tracesEndpoint, otlp));
  return new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
}

async function metricReaders(otlp: OtlpSettings | undefined): Promise<IMetricReader[]> {
  if (otlp?.metricsEndpoint === undefined) return [];
  const [{ PeriodicExportingMetricReader }, { OTLPMetricExporter }] = await Promise.all([
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-metrics-otlp-proto'),
  ]);
  const exporter = new OTLPMetricExporter(exporterOptions(otlp.metricsEndpoint, otlp));
  return [
    new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: METRICS_EVERY_MS,
      exportTimeoutMillis: EXPORT_MS_MAX,
    }),
  ];
}

function exporterOptions(url: string, { headers }: OtlpSettings) {
  return { url, timeoutMillis: EXPORT_MS_MAX, ...(headers !== undefined && { headers: { ...headers } }) };
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
