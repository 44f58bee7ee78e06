import {
  ConsoleMetricExporter,
  type IMetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

export const OTLP_PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** One way in which metrics are pushed. The standard variables give addresses, headers and time-outs. */
export interface MetricsPush {
  readonly exporter: 'console' | OtlpProtocol;
  /** The interval between two exports, in ms. */
  readonly everyMs: number;
  /** The time limit of one export, in ms. */
  readonly timeoutMs: number;
}

/** Makes a metric reader for each configured exporter. The exporters are large, so only those in use are loaded. */
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
