/**
 * Turns the steps of elicitations into logs, spans and metrics, in one place, so that all surfaces report alike and nothing
 * that a person wrote leaves the store. Approvals have `approval-observer.ts`, and the exporters are in `telemetry.ts`.
 */

import { hash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isTerminal, type TerminalStatus } from '@parley/core/domain/elicitations/status';
import { isParleyError } from '@parley/core/domain/errors';
import { OUTCOMES } from '../domain/elicitations/outcome.ts';
import type { Row } from '../domain/elicitations/row.ts';
import type { Observer } from '../ports/elicitations/observer.ts';
import { createApprovalObserver } from './approval-observer.ts';
import type { Log } from './log.ts';
import { surfaceLabel, triggerLabel } from './metrics/metric-labels.ts';
import type { Metrics } from './metrics.ts';
import { quietly } from './quietly.ts';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

interface ObserverDeps {
  readonly log: Log;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** The parent context of new spans. If absent, each span starts its own trace. */
  readonly context?: () => Context;
  /** The wall clock in ms, compared with times of the Redis clock. */
  readonly clock?: () => number;
}

/** The span name and log message of each outcome. Expiry and withdrawal must not look like a person's refusal. */
const ENDINGS: Readonly<Record<TerminalStatus, { span: string; message: string }>> = {
  accepted: { span: 'elicitation.completed', message: 'elicitation answered' },
  declined: { span: 'elicitation.declined', message: 'elicitation declined' },
  cancelled: { span: 'elicitation.declined', message: 'elicitation cancelled' },
  expired: { span: 'elicitation.timeout', message: 'elicitation expired' },
  withdrawn: { span: 'elicitation.withdrawn', message: 'elicitation withdrawn' },
};

/**
 * Makes the observer of a process: one log line, one short span and a few metrics for each step of an elicitation. Spans of
 * later steps link to the span of the ask, on any pod. The process that settles also adds a span for the whole wait, as a child
 * of the ask. None of these contain the content of a question or an answer.
 */
export function createObserver(deps: ObserverDeps): Observer {
  const { log, metrics, clock = Date.now } = deps;
  const spans = createSpans(deps);
  return {
    asking: (run) => spans.asking(run),
    asked: quietly((row) => {
      spans.asked(row);
      metrics.requests.add(1, {
        mode: row.definition.mode,
        trigger: triggerLabel(row.definition.context.trigger),
        surface: askingSurface(row),
      });
      if (log.isLevelEnabled('info')) log.info(fieldsOf(row, askingSurface(row)), 'elicitation asked');
    }),
    settled: quietly((row) => {
      if (!isTerminal(row.status)) return;
      spans.settled(row, row.status);
      spans.waited(row, row.status);
      countSettled(metrics, row, row.status);
      if (log.isLevelEnabled('info')) {
        log.info(fieldsOf(row, row.settlement?.surface), ENDINGS[row.status].message);
      }
    }),
    resumed: quietly((row, source) => {
      spans.resumed(row, source);
      metrics.wakeSource.add(1, { source });
      if (row.settledAt !== undefined) metrics.wakeLatency.record(secondsBetween(row.settledAt, clock()));
    }),
    tooManyOpen: quietly(() => metrics.rateLimited.add(1, { limit: 'open' })),
    timerFailed: quietly((elicitationId, error) => {
      metrics.timerScheduleFailures.add(1);
      log.warn({ elicitationId, err: error }, 'deadline job not added, the next sweep adds it');
    }),
    swept: quietly((count) => {
      metrics.sweepExpired.add(count);
      log.info({ count }, 'sweep expired overdue elicitations');
    }),
    approvals: createApprovalObserver(deps),
    sweepFailed: quietly((elicitationId, error) => {
      metrics.sweepFailures.add(1);
      log.error({ elicitationId, err: error }, 'sweep cannot expire an overdue elicitation');
    }),
  };
}

/** An observer that does nothing, for tests and benchmarks. */
export const silentObserver: Observer = {
  asking: (run) => run(undefined),
  asked: () => undefined,
  settled: () => undefined,
  resumed: () => undefined,
  approvals: {
    asking: (run) => run(undefined),
    asked: () => undefined,
    settled: () => undefined,
    resumed: () => undefined,
  },
  tooManyOpen: () => undefined,
  timerFailed: () => undefined,
  swept: () => undefined,
  sweepFailed: () => undefined,
};

function createSpans({ tracer, context = () => ROOT_CONTEXT }: ObserverDeps) {
  /** The spans of asks without a row so far, by traceparent. */
  const asking = new Map<string, Span>();

  function mark(name: string, row: Row, kind: SpanKind, more: Attributes): void {
    const link = linkTo(row);
    const span = tracer.startSpan(name, { kind, ...(link !== undefined && { links: [link] }) }, context());
    if (!span.isRecording()) return;
    span.setAttributes({ ...attributesOf(row), ...more });
    span.end();
  }

  return {
    async asking<T>(run: (traceparent: string | undefined) => Promise<T>): Promise<T> {
      const span = tracer.startSpan('elicitation.requested', { kind: SpanKind.PRODUCER }, context());
      const traceparent = formatTraceparent(span.spanContext());
      if (traceparent === undefined) return run(undefined);
      asking.set(traceparent, span);
      try {
        const result = await run(traceparent);
        if (asking.has(traceparent)) span.setAttribute('elicitation.replayed', true);
        return result;
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', isParleyError(error) ? error.code : 'internal');
        throw error;
      } finally {
        asking.delete(traceparent);
        span.end();
      }
    },
    asked(row: Row): void {
      const traceparent = row.definition.traceparent ?? '';
      asking
        .get(traceparent)
        ?.setAttributes({ ...attributesOf(row), 'elicitation.surface': askingSurface(row) });
      asking.delete(traceparent);
    },
    /** Adds the span of the whole wait as a child of the ask's span, whichever pods asked and settled. */
    waited(row: Row, status: TerminalStatus): void {
      const asked = parseTraceparent(row.definition.traceparent);
      if (asked === undefined) return;
      const parent = trace.setSpanContext(ROOT_CONTEXT, asked);
      const attributes = { ...attributesOf(row), 'elicitation.outcome': OUTCOMES[status].log };
      const startTime = row.createdAt;
      tracer.startSpan('elicitation.wait', { startTime, attributes }, parent).end(startTime + lastedMs(row));
    },
    settled(row: Row, status: TerminalStatus): void {
      const { action, surface, reason } = row.settlement ?? {};
      mark(ENDINGS[status].span, row, SpanKind.INTERNAL, {
        'elicitation.outcome': OUTCOMES[status].log,
        ...(action !== undefined && { 'elicitation.action': action }),
        ...(surface !== undefined && { 'elicitation.surface': surface }),
        ...(reason !== undefined && { 'elicitation.reason': reason }),
      });
    },
    resumed(row: Row, source: string): void {
      mark('elicitation.resumed', row, SpanKind.CONSUMER, {
        'elicitation.outcome': row.status,
        'elicitation.wake_source': source,
      });
    },
  };
}

function countSettled(metrics: Metrics, row: Row, outcome: TerminalStatus): void {
  metrics.outcomes.add(1, { trigger: triggerLabel(row.definition.context.trigger), outcome });
  metrics.tenantOutcomes.add(1, { tenant: metrics.tenantLabel(row.definition.tenant), outcome });
  metrics.waitDuration.record(lastedMs(row) / 1_000);
  if (outcome === 'expired') {
    metrics.expiredLate.record(secondsBetween(row.expiresAt, row.settledAt ?? row.expiresAt));
  } else if (outcome !== 'withdrawn') {
    metrics.responses.add(1, { outcome, surface: surfaceLabel(row.settlement?.surface) });
  }
}

// All fields are in one object literal, some undefined: merging partial objects took longer than writing the line.
function fieldsOf(
  { id, definition, status, settlement, createdAt, settledAt }: Row,
  surface: string | undefined,
) {
  const { context } = definition;
  return {
    elicitationId: id,
    streamRequestId: definition.streamRequestId,
    tenant: definition.tenant,
    userId: definition.userId,
    askedBy: definition.askedBy,
    mode: definition.mode,
    trigger: context.trigger,
    toolId: context.toolId,
    toolName: context.toolName,
    credentialType: context.credentialType,
    surface,
    outcome: isTerminal(status) ? status : undefined,
    reason: settlement?.reason,
    settledBy: settlement?.key,
    durationMs: settledAt === undefined ? undefined : settledAt - createdAt,
  };
}

function attributesOf({ id, definition }: Row): Attributes {
  const { tenant, userId, mode, context } = definition;
  return {
    'elicitation.id': id,
    'elicitation.mode': mode,
    'elicitation.trigger': context.trigger,
    ...(context.toolId !== undefined && { 'tool.id': context.toolId }),
    'tenant.id': tenant,
    'enduser.id': hash('sha256', `${tenant}\u0000${userId}`).slice(0, 16),
  };
}

/** The surface that asked, from the question's context. Default `api`. */
function askingSurface({ definition }: Row) {
  const surface = definition.context.surface;
  return surface === undefined ? 'api' : surfaceLabel(surface);
}

function linkTo({ definition }: Row): Link | undefined {
  const context = parseTraceparent(definition.traceparent);
  return context && { context };
}

function lastedMs({ createdAt, settledAt = createdAt }: Row): number {
  return Math.max(0, settledAt - createdAt);
}

function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1_000;
}
