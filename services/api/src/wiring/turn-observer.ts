import { type Attributes, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { Log } from '@parley/shared/runtime/log';
import type { Metrics } from '@parley/shared/runtime/metrics';
import type { TurnObserver } from '../agents/loop/observer.ts';

export interface TurnObserverDeps {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/**
 * Logs, counts and traces turns. A turn may wait for people for days, which is too long for a span. So each step of the
 * model is a span, and the end of a tool call or of a turn is a short span with the duration as an attribute. Names
 * follow the conventions of OpenTelemetry for generative AI.
 */
export function createTurnObserver({ log, metrics, tracer }: TurnObserverDeps): TurnObserver {
  function mark(name: string, attributes: Attributes): void {
    const span = tracer.startSpan(name, { kind: SpanKind.INTERNAL, root: true });
    if (span.isRecording()) span.setAttributes(attributes);
    span.end();
  }

  return {
    began: () => metrics.turnsRunning.add(1),
    resumed({ streamRequestId, conversationId, userId }, term) {
      metrics.turnsRunning.add(1);
      metrics.turnsTakenOver.add(1);
      log.info({ streamRequestId, conversationId, userId, term }, 'turn taken over');
    },
    ended(run, { agent, outcome, durationMs }) {
      metrics.turnsRunning.add(-1);
      metrics.turns.add(1, { outcome });
      const { streamRequestId, conversationId, userId } = run;
      log.info({ streamRequestId, conversationId, userId, agent, outcome, durationMs }, `turn ${outcome}`);
      mark(`invoke_agent ${agent}`, {
        ...attributesOf(run, 'invoke_agent', agent),
        'parley.outcome': outcome,
        'parley.duration_ms': durationMs,
      });
    },
    called(run, { agent, tool, outcome, durationMs }) {
      mark(`execute_tool ${tool}`, {
        ...attributesOf(run, 'execute_tool', agent),
        'gen_ai.tool.name': tool,
        'parley.outcome': outcome,
        'parley.duration_ms': durationMs,
      });
    },
    async chat(run, agent, round) {
      const span = tracer.startSpan('chat', { kind: SpanKind.CLIENT, root: true });
      if (span.isRecording()) span.setAttributes(attributesOf(run, 'chat', agent));
      try {
        return await round();
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
        throw error;
      } finally {
        span.end();
      }
    },
  };
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
