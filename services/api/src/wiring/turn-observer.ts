/** Turns what happens in turns into log lines, spans and metrics. It never sees the content of messages. */

import {
  type Attributes,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isParleyError } from '@parley/core/domain/errors';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { Log } from '@parley/shared/observe/log';
import type { Metrics } from '@parley/shared/observe/metrics';
import { formatTraceparent, parseTraceparent } from '@parley/shared/observe/traceparent';
import type { TurnObserver } from '../agents/run/observer.ts';

interface TurnObserverDeps {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/**
 * Logs, counts and traces turns. A turn may wait for people for days and move between pods, so it is not a single span. A short
 * span under the caller's trace begins it, and the context of that span is stored with the turn. Below it, each pod creates
 * spans: for each model step, for each tool call, and for the part of the turn on which the pod worked, at its end or release.
 * Names follow OpenTelemetry's conventions for generative AI.
 */
export function createTurnObserver({ log, metrics, tracer }: TurnObserverDeps): TurnObserver {
  /** Records a span for something that has just ended. */
  function mark(name: string, attributes: Attributes, durationMs: number, links: Link[] = []): void {
    const span = tracer.startSpan(name, {
      kind: SpanKind.INTERNAL,
      startTime: Date.now() - durationMs,
      attributes: { ...attributes, 'parley.duration_ms': durationMs },
      links,
    });
    span.end();
  }

  /** Runs work within a span that ends with the work. */
  async function spanning<T>(
    name: string,
    options: SpanOptions,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    return tracer.startActiveSpan(name, options, async (span) => {
      try {
        return await work(span);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', faultName(error));
        throw error;
      } finally {
        span.end();
      }
    });
  }

  return {
    beginning: (agent, begin) =>
      spanning('turn.begin', { kind: SpanKind.SERVER, attributes: { 'gen_ai.agent.id': agent } }, (span) =>
        begin(formatTraceparent(span.spanContext())),
      ),
    within(traceparent, work) {
      const parent = parseTraceparent(traceparent);
      return context.with(
        parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent),
        work,
      );
    },
    traceparent: () => formatTraceparent(trace.getSpanContext(context.active())),
    began: () => metrics.turnsRunning.add(1),
    resumed({ streamRequestId, conversationId, userId }, term) {
      metrics.turnsRunning.add(1);
      metrics.turnsTakenOver.add(1);
      log.info({ streamRequestId, conversationId, userId, term }, 'turn taken over');
    },
    ended(run, { agent, outcome, durationMs, previous }) {
      metrics.turnsRunning.add(-1);
      metrics.turns.add(1, { outcome });
      metrics.tenantTurns.add(1, { tenant: metrics.tenantLabel(run.tenant), outcome });
      const { streamRequestId, conversationId, userId } = run;
      log.info({ streamRequestId, conversationId, userId, agent, outcome, durationMs }, `turn ${outcome}`);
      const link = parseTraceparent(previous);
      mark(
        `invoke_agent ${agent}`,
        { ...attributesOf(run, 'invoke_agent', agent), 'parley.outcome': outcome },
        durationMs,
        link === undefined ? [] : [{ context: link, attributes: { 'parley.link': 'previous_turn' } }],
      );
    },
    called(run, { agent, tool, outcome, durationMs }) {
      mark(
        `execute_tool ${tool}`,
        {
          ...attributesOf(run, 'execute_tool', agent),
          'gen_ai.tool.name': tool,
          'parley.outcome': outcome,
        },
        durationMs,
      );
    },
    chat: (run, agent, round) =>
      spanning('chat', { kind: SpanKind.CLIENT, attributes: attributesOf(run, 'chat', agent) }, round),
  };
}

function faultName(error: unknown): string {
  if (isParleyError(error)) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

function attributesOf(
  { streamRequestId, conversationId }: RunRef,
  operation: string,
  agent: string,
): Attributes {
  return {
    'gen_ai.operation.name': operation,
    'gen_ai.agent.id': agent,
    'gen_ai.conversation.id': conversationId,
    'parley.stream_request.id': streamRequestId,
  };
}
