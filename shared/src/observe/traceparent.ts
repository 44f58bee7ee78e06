import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';

/** The `traceparent` of a span (W3C Trace Context). Undefined while nothing is traced. */
export function formatTraceparent(context: SpanContext | undefined): string | undefined {
  if (context === undefined || !isSpanContextValid(context)) return undefined;
  const flags = context.traceFlags.toString(16).padStart(2, '0');
  return `00-${context.traceId}-${context.spanId}-${flags}`;
}

/** The span that a stored `traceparent` identifies. Undefined when it is absent or malformed. */
export function parseTraceparent(traceparent: string | undefined): SpanContext | undefined {
  const context = traceparent === undefined ? null : parseTraceParent(traceparent);
  return context === null ? undefined : { ...context, isRemote: true };
}
