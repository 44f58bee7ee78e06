import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
} from '@opentelemetry/api';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isParleyError } from '@parley/core/domain/errors';
import type { ApprovalRow, ApprovalTypes } from '../domain/approvals/types.ts';
import type { RecordObserver } from '../ports/elicitations/observer.ts';
import type { Log } from './log.ts';
import { surfaceLabel } from './metrics/metric-labels.ts';
import type { Metrics } from './metrics.ts';
import { quietly } from './quietly.ts';
import { formatTraceparent, parseTraceparent } from './traceparent.ts';

interface ApprovalObserverDeps {
  readonly log: Log;
  readonly tracer: Tracer;
  readonly metrics: Metrics;
  /** The parent context of new spans. If absent, each span starts its own trace. */
  readonly context?: () => Context;
}

/**
 * Makes the observer of approvals: one log line, one short span and one count for each step. None of these contain arguments or
 * reasons. The spans of later steps link to the span of the request, on any pod.
 */
export function createApprovalObserver(deps: ApprovalObserverDeps): RecordObserver<ApprovalTypes> {
  const { log, metrics, tracer, context = () => ROOT_CONTEXT } = deps;

  function mark(name: string, row: ApprovalRow, kind: SpanKind): void {
    const asked = parseTraceparent(row.definition.traceparent);
    const links = asked === undefined ? [] : [{ context: asked }];
    tracer.startSpan(name, { kind, links, attributes: attributesOf(row) }, context()).end();
  }

  return {
    async asking(run) {
      const span = tracer.startSpan('approval.requested', { kind: SpanKind.PRODUCER }, context());
      try {
        return await run(formatTraceparent(span.spanContext()));
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', isParleyError(error) ? error.code : 'internal');
        throw error;
      } finally {
        span.end();
      }
    },
    asked: quietly((row) => {
      metrics.approvalRequests.add(1);
      log.info(fieldsOf(row), 'approval requested');
    }),
    settled: quietly((row) => {
      if (!isApprovalEnded(row.status)) return;
      mark('approval.settled', row, SpanKind.INTERNAL);
      const surface = surfaceLabel(row.settlement?.surface);
      metrics.approvalOutcomes.add(1, { outcome: row.status, surface });
      log.info(fieldsOf(row), `approval ${row.status}`);
    }),
    resumed: quietly((row, source) => {
      mark('approval.resumed', row, SpanKind.CONSUMER);
      metrics.wakeSource.add(1, { source });
    }),
  };
}

function fieldsOf({ id, definition, status, settlement, createdAt, settledAt }: ApprovalRow) {
  const { streamRequestId, tenant, userId, tool, agentId } = definition;
  return {
    approvalId: id,
    streamRequestId,
    tenant,
    userId,
    agent: agentId,
    toolId: tool.server,
    toolName: tool.name,
    surface: settlement?.surface,
    outcome: isApprovalEnded(status) ? status : undefined,
    remembered: settlement?.remember,
    settledBy: settlement?.key,
    durationMs: settledAt === undefined ? undefined : settledAt - createdAt,
  };
}

function attributesOf({ id, definition, status }: ApprovalRow): Attributes {
  return {
    'approval.id': id,
    'approval.status': status,
    'tool.id': definition.tool.server,
    'tenant.id': definition.tenant,
  };
}
