import {
  ConsoleMetricExporter,
  type IMetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

export const OTLP_PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** One way in which metrics are pushed. Addresses, headers and time-outs come from the standard variables. */
export interface MetricsPush {
  readonly exporter: 'console' | OtlpProtocol;
  /** Interval between two exports, in ms. */
  readonly everyMs: number;
  /** Time that one export may take, in ms. */
  readonly timeoutMs: number;
}

/** Makes a metric reader for each way of pushing. The exporters are large, so only those in use are loaded. */
export async function createPushReaders(pushes: readonly MetricsPush[]): Promise<IMetricReader[]> {
  return Promise.all(
    pushes.map(
      async ({ exporter, everyMs, timeoutMs }) =>
        new PeriodicExportingMetricReader({
          exporter: await createExporter(exporter),
          exportIntervalMillis: everyMs,
          exportTimeoutMillis: Math.min(timeoutMs, everyMs),
        }),
    ),
  );
}

async function createExporter(exporter: MetricsPush['exporter']) {
  switch (exporter) {
    case 'console':
      return new ConsoleMetricExporter();
    case 'http/protobuf':
      return new (await import('@opentelemetry/exporter-metrics-otlp-proto')).OTLPMetricExporter();
    case 'http/json':
      return new (await import('@opentelemetry/exporter-metrics-otlp-http')).OTLPMetricExporter();
    case 'grpc':
      return new (await import('@opentelemetry/exporter-metrics-otlp-grpc')).OTLPMetricExporter();
  }
}
