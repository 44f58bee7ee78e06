import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { EnvError, readEnv } from '@parley/shared/config/env';
import { telemetryExports } from '@parley/shared/config/telemetry-env';
import { createMetrics } from '@parley/shared/observe/metrics';
import { startTelemetry, type Telemetry, type TelemetryExports } from '@parley/shared/observe/telemetry';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeNow, serve } from './watched-pod.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const TRACES: TelemetryExports = { traces: true, logs: false, metrics: [] };
const METRICS: TelemetryExports = {
  traces: false,
  logs: false,
  metrics: [{ exporter: 'http/protobuf', everyMs: 60_000, timeoutMs: 5_000 }],
};

/** Starts telemetry whose standard variables are the given ones. */
async function start(exports?: TelemetryExports, variables: Record<string, string> = {}): Promise<Telemetry> {
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test');
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const telemetry = await startTelemetry({ service: 'parley-test', pod: 'pod-1', version: '1.2.3', exports });
  cleanups.push(async () => {
    await telemetry.shutdown();
    for (const api of [trace, context, propagation]) api.disable();
  });
  return telemetry;
}

/** A server that goes with the test; gives its base URL. */
async function listening(server: Server): Promise<string> {
  cleanups.push(() => closeNow(server));
  return serve(server);
}

async function scraper(telemetry: Telemetry): Promise<() => Promise<string>> {
  const url = await listening(createServer(telemetry.metricsHandler));
  return async () => (await fetch(url)).text();
}

interface Family {
  readonly type: string;
  readonly labels: readonly string[];
}

/** The families of a scrape: their types, and every label any of their samples has. */
function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const sample = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? `, 'gm');
    const labels = [...text.matchAll(sample)].flatMap(([, pairs = '']) =>
      [...pairs.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    );
    families.set(name, { type, labels: [...new Set(labels)].filter((label) => label !== 'le').sort() });
  }
  return families;
}

describe('a scrape', () => {
  it('has exactly the metrics that infra/telemetry/metrics.json lists, with their types and labels', async () => {
    const listed = JSON.parse(readFileSync('infra/telemetry/metrics.json', 'utf8')) as Record<
      string,
      { readonly type: string; readonly labels?: readonly string[] }
    >;
    const telemetry = await start();
    const metrics = createMetrics(telemetry.meter);
    for (const histogram of [metrics.waitDuration, metrics.wakeLatency, metrics.expiredLate])
      histogram.record(1);
    metrics.httpRequests.add(1, { route: '/v1/elicitations', method: 'POST', status: 201 });
    metrics.httpRequestDuration.record(0.1, { route: '/v1/elicitations', method: 'POST' });
    const families = familiesOf(await (await scraper(telemetry))());
    families.delete('target_info');
    const expected = Object.entries(listed).map(([name, { type, labels = [] }]) => [
      name,
      { type, labels: [...labels].sort() },
    ]);
    expect(Object.fromEntries(families)).toEqual(Object.fromEntries(expected));
  });

  it('has every metric under its name of earlier builds, too, with the same values, for one release', async () => {
    const telemetry = await start();
    const metrics = createMetrics(telemetry.meter, { names: 'both' });
    metrics.sseConnections.add(2);
    metrics.rateLimited.add(3, { limit: 'open' });
    metrics.wakeLatency.record(0.3);
    const overdue = vi.fn(() => 4);
    metrics.observe({ overdue });
    const text = await (await scraper(telemetry))();
    // A reading costs Redis something, and the names of a gauge agree.
    expect(overdue).toHaveBeenCalledTimes(1);
    const samples = text
      .split('\n')
      .filter((line) => /^\w+[{ ]/.test(line) && !line.startsWith('target_info'));
    const prefixed = samples.filter((line) => line.startsWith('parley_'));
    const before = prefixed.map((line) => line.replace(/^parley_/, '').replace(/_seconds(?=[_{ ])/, ''));
    expect(before.sort()).toEqual(samples.filter((line) => !line.startsWith('parley_')).sort());
    for (const line of ['sse_connections 2', 'elicitation_overdue 4', 'rate_limited_total{limit="open"} 3'])
      expect(before).toContain(line);
  });

  it('shows every counter at 0 before anything was counted', async () => {
    const telemetry = await start();
    createMetrics(telemetry.meter);
    const text = await (await scraper(telemetry))();
    const counters = [...familiesOf(text)].filter(([, { type }]) => type === 'counter').map(([name]) => name);
    expect(counters.length).toBeGreaterThanOrEqual(13);
    for (const name of counters) expect(text).toMatch(new RegExp(`^${name}(\\{.*\\})? 0$`, 'm'));
    expect(text).toContain('parley_sse_connections 0\n');
  });

  it('names as many tenants as it may, and counts later ones together', async () => {
    const telemetry = await start();
    const { tenantLabel, tenantOutcomes } = createMetrics(telemetry.meter, { tenantsMax: 2 });
    for (const tenant of ['acme', 'globex', 'initech', 'acme', 'hooli'])
      tenantOutcomes.add(1, { tenant: tenantLabel(tenant), outcome: 'accepted' });
    const text = await (await scraper(telemetry))();
    const counts = [
      ...text.matchAll(/^parley_tenant_outcomes_total\{tenant="(\w+)",outcome="accepted"\} (\d+)$/gm),
    ];
    expect(Object.fromEntries(counts.map(([, tenant, count]) => [tenant, count]))).toEqual({
      acme: '2',
      globex: '1',
      other: '2',
    });
  });

  it('has the buckets that the dashboards use', async () => {
    const telemetry = await start();
    const metrics = createMetrics(telemetry.meter);
    metrics.waitDuration.record(61);
    metrics.wakeLatency.record(0.0005);
    const text = await (await scraper(telemetry))();
    const bounds = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}_bucket\\{le="(.+)"\\} (\\d+)$`, 'gm'))].map(
        ([, le, n]) => `${le}:${n}`,
      );
    expect(bounds('parley_elicitation_wait_duration_seconds')).toEqual([
      '1:0',
      '5:0',
      '15:0',
      '60:0',
      '300:1',
      '600:1',
      '+Inf:1',
    ]);
    expect(bounds('parley_elicitation_wake_latency_seconds')).toMatchObject({
      0: '0.001:1',
      10: '2.5:1',
      11: '+Inf:1',
    });
  });

  it('reads a gauge each time, and gives NaN where its source fails, returns nothing or hangs', async () => {
    const telemetry = await start();
    const metrics = createMetrics(telemetry.meter);
    const scrape = await scraper(telemetry);
    expect(await scrape()).toContain('parley_elicitation_pending NaN\n');
    metrics.observe({
      pending: async () => 3,
      overdue: () => 4.5,
      indexCheckAge: () => 5,
      timerCanaryAge: () => 6,
      outboxLag: () => 7,
    });
    const metricsText = await scrape();
    for (const sample of [
      'parley_elicitation_pending 3',
      'parley_elicitation_overdue_seconds 4.5',
      'parley_index_check_age_seconds 5',
      'parley_timer_canary_age_seconds 6',
      'parley_outbox_lag_seconds 7',
    ])
      expect(metricsText).toContain(`${sample}\n`);
    metrics.observe({
      pending: () => Promise.reject(new Error('Redis is unavailable')),
      overdue: () => undefined,
      timerCanaryAge: () => new Promise(() => undefined),
    });
    const untold = await scrape();
    for (const name of [
      'parley_elicitation_pending',
      'parley_elicitation_overdue_seconds',
      'parley_timer_canary_age_seconds',
    ])
      expect(untold).toContain(`${name} NaN\n`);
  });

  it('names the process', async () => {
    const text = await (await scraper(await start()))();
    expect(text).toContain('service_name="parley-test"');
    expect(text).toContain('service_version="1.2.3"');
    expect(text).toContain('service_instance_id="pod-1"');
    expect(text).toContain('deployment_environment_name="test"');
  });
});

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A collector that takes whatever comes; with `silent`, it never replies. */
async function startCollector({ silent = false } = {}) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
    if (!silent) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  return { url: await listening(server), received };
}

function traceOnce(telemetry: Telemetry): void {
  telemetry.tracer.startSpan('elicitation.requested').end();
}

describe('export to a collector', () => {
  it('sends spans and metrics as protobuf to the configured address, with its headers', async () => {
    const collector = await startCollector();
    const telemetry = await start(
      { ...METRICS, traces: true },
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=ops' },
    );
    createMetrics(telemetry.meter);
    traceOnce(telemetry);
    await telemetry.shutdown();
    const byPath = new Map(collector.received.map((each) => [each.path, each]));
    expect([...byPath.keys()].sort()).toEqual(['/v1/metrics', '/v1/traces']);
    for (const { headers } of collector.received)
      expect(headers).toMatchObject({ 'content-type': 'application/x-protobuf', 'x-tenant': 'ops' });
    const traces = byPath.get('/v1/traces')?.body.toString('latin1');
    for (const part of ['elicitation.requested', 'parley-test', 'pod-1', '1.2.3'])
      expect(traces).toContain(part);
    expect(byPath.get('/v1/metrics')?.body.toString('latin1')).toContain('elicitation_requests');
  });

  it('can still be scraped in the meantime', async () => {
    const collector = await startCollector();
    const telemetry = await start(METRICS, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    createMetrics(telemetry.meter).sseResumes.add(2);
    const scrape = await scraper(telemetry);
    expect(await scrape()).toContain('parley_sse_resumes_total 2\n');
    expect(await scrape()).toContain('parley_sse_resumes_total 2\n');
  });

  it('is off unless asked for', async () => {
    const collector = await startCollector();
    const telemetry = await start(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    createMetrics(telemetry.meter);
    const span = telemetry.tracer.startSpan('elicitation.requested');
    expect(span.isRecording()).toBe(false);
    span.end();
    await telemetry.shutdown();
    expect(collector.received).toEqual([]);
  });

  it('loses spans, and nothing else, while the collector is unavailable', async () => {
    const gone = createServer();
    const url = await serve(gone);
    await new Promise((resolve) => gone.close(resolve));
    const telemetry = await start({ ...METRICS, traces: true }, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
    createMetrics(telemetry.meter);
    traceOnce(telemetry);
    await expect(telemetry.shutdown()).resolves.toBeUndefined();
    await expect(telemetry.shutdown()).resolves.toBeUndefined();
    traceOnce(telemetry);
  });

  it('waits two seconds and no longer for a collector that never replies', async () => {
    const collector = await startCollector({ silent: true });
    const telemetry = await start(TRACES, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    traceOnce(telemetry);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let over = false;
    const shutdown = telemetry.shutdown().then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toBe(true);
    await shutdown;
  });
});

describe('the standard variables', () => {
  const ended = (telemetry: Telemetry) => {
    const span = telemetry.tracer.startSpan('elicitation.requested');
    span.end();
    return span;
  };

  it('decide the sampler, the resource and the propagator', async () => {
    const collector = await startCollector();
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const silent = await start(TRACES, { ...endpoint, OTEL_TRACES_SAMPLER: 'always_off' });
    expect(ended(silent).isRecording()).toBe(false);
    for (const clean of cleanups.splice(1).reverse()) await clean();
    const telemetry = await start(TRACES, {
      ...endpoint,
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_SERVICE_NAME: 'our-agents',
      OTEL_RESOURCE_ATTRIBUTES: 'team=support',
      OTEL_PROPAGATORS: 'b3',
    });
    const b3 = `${'a'.repeat(32)}-${'b'.repeat(16)}-1`;
    const span = telemetry.continuing({ b3 }, () => ended(telemetry));
    expect(span.spanContext().traceId).toBe('a'.repeat(32));
    await telemetry.shutdown();
    expect(collector.received).toHaveLength(1);
    const sent = collector.received[0]?.body.toString('latin1');
    for (const part of ['our-agents', 'team', 'support', 'pod-1']) expect(sent).toContain(part);
    expect(sent).not.toContain('parley-test');
  });

  it('leave the spans to providers that a team registered before', async () => {
    const collector = await startCollector();
    const exporter = new InMemorySpanExporter();
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
    const telemetry = await start(TRACES, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const outer = trace.getTracer('theirs').startSpan('request');
    const inner = context.with(trace.setSpan(ROOT_CONTEXT, outer), () =>
      telemetry.continuing({ traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` }, () =>
        ended(telemetry),
      ),
    );
    outer.end();
    expect(inner.spanContext().traceId).toBe(outer.spanContext().traceId);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['elicitation.requested', 'request']);
    await telemetry.shutdown();
    expect(collector.received).toEqual([]);
  });

  const push = { exporter: 'http/protobuf', everyMs: 60_000, timeoutMs: 5_000 } as const;
  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' };
  const TRACES_ENDPOINT = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' };
  const CONSOLE = { OTEL_TRACES_EXPORTER: 'console', OTEL_METRICS_EXPORTER: 'console,prometheus' };
  const GRPC = {
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
  };
  const NONE = { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' };
  const exporting = (traces: boolean, ...metrics: object[]) => ({ traces, logs: false, metrics });
  it.each([
    ['nothing', {}, undefined],
    ['an endpoint', ENDPOINT, exporting(true, push)],
    ['an endpoint of one signal', TRACES_ENDPOINT, exporting(true)],
    ['an exporter of another kind', CONSOLE, exporting(true, { ...push, exporter: 'console' })],
    ['another protocol', GRPC, exporting(false, { ...push, exporter: 'grpc', everyMs: 1_000 })],
    ['none', NONE, undefined],
    ['a disabled SDK', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }, undefined],
  ])('with %s decide what is exported', (_what, variables, expected) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect(telemetryExports(readEnv('api'))).toEqual(expected);
  });

  it.each([
    { OTEL_METRICS_EXPORTER: 'statsd' },
    { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'tcp' },
  ])('that nothing knows stop the start: %j', (variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    expect(() => telemetryExports(readEnv('api'))).toThrow(EnvError);
  });
});

describe('a trace that a caller began', () => {
  const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const traceIdIn = (telemetry: Telemetry, traceparent?: string) =>
    telemetry.continuing({ ...(traceparent !== undefined && { traceparent }) }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return telemetry.tracer.startSpan('step', {}, telemetry.context()).spanContext().traceId;
    });

  it('continues in the spans of its request, and in no other', async () => {
    const collector = await startCollector();
    const telemetry = await start(TRACES, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const [own, none, junk] = await Promise.all([
      traceIdIn(telemetry, PARENT),
      traceIdIn(telemetry),
      traceIdIn(telemetry, 'junk'),
    ]);
    expect(own).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(none).toMatch(/^(?!0af765)[0-9a-f]{32}$/);
    expect(junk).toMatch(/^(?!0af765)[0-9a-f]{32}$/);
    expect(telemetry.context()).toBe(ROOT_CONTEXT);
  });

  it('is ignored while tracing is off', async () => {
    const telemetry = await start();
    expect(telemetry.continuing({ traceparent: PARENT }, () => telemetry.context())).toBe(ROOT_CONTEXT);
    expect(await traceIdIn(telemetry, PARENT)).toBe('00000000000000000000000000000000');
  });
});
