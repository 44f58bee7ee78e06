import { createServer, type Server } from 'node:http';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createLog } from '@parley/shared/observe/log';
import { createMetrics, type Metrics } from '@parley/shared/observe/metrics';
import { createObserver } from '@parley/shared/observe/observer';
import { startTelemetry } from '@parley/shared/observe/telemetry';
import type { Backend } from '@parley/shared/ports/backend';
import type { Observer } from '@parley/shared/ports/elicitations/observer';
import type { TurnObserver } from '../../../services/api/src/agents/run/observer.ts';
import { createTurnObserver } from '../../../services/api/src/wiring/turn-observer.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

/** A pod's engine on some backend, and everything its observer let out. */
export interface WatchedPod {
  readonly engine: Engine;
  readonly observer: Observer;
  readonly turnObserver: TurnObserver;
  readonly metrics: Metrics;
  /** Log lines, as written. */
  readonly lines: readonly string[];
  /** What the log lines say. */
  said(): Record<string, unknown>[];
  /** The ended spans of this name, or all. */
  spans(name?: string): ReadableSpan[];
  scrape(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts an engine whose observer really logs, counts and, by default, traces. */
export async function startWatchedPod(backend: Backend, { traced = true } = {}): Promise<WatchedPod> {
  // Once for the process: further calls change nothing.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const telemetry = await startTelemetry({ service: 'test', pod: 'pod', version: '1' });
  const metrics = createMetrics(telemetry.meter);
  const lines: string[] = [];
  const log = createLog(
    { service: 'test', level: 'info', pod: 'pod' },
    { write: (line) => lines.push(line) },
  );
  const tracer = traced ? provider.getTracer('test') : telemetry.tracer;
  const observer = createObserver({ log, tracer, metrics, context: () => context.active() });
  const scrapes = createServer(telemetry.metricsHandler);
  const url = await serve(scrapes);
  return {
    engine: engineOn(backend, { observer }),
    observer,
    turnObserver: createTurnObserver({ log, metrics, tracer }),
    metrics,
    lines,
    said: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    spans: (name) => exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name),
    scrape: async () => (await fetch(url)).text(),
    async stop() {
      closeNow(scrapes);
      await Promise.all([provider.shutdown(), telemetry.shutdown()]);
    },
  };
}

/** A memory backend for a handful of questions. */
export function smallBackend(openPerUserMax = 100): Backend {
  return createMemoryBackend({ ...ROOMY, openPerUserMax });
}

/** Makes an HTTP server listen on loopback; gives its base URL. */
export async function serve(server: Server): Promise<string> {
  return `http://127.0.0.1:${await listenOnFreePort(server)}`;
}

/** Closes a server and whatever is still connected to it. */
export function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}
