import type { FormSchema } from '../forms/schema.ts';
import type { StreamRef } from '../ids.ts';
import type { Context, Elicitation, OnUnavailable } from './elicitation.ts';
import type { Settlement } from './settlement.ts';
import type { Completion, Mode, Status } from './status.ts';

/** The question. It is set at creation and never changes. */
export interface Definition extends StreamRef {
  readonly conversationId: string;
  readonly mode: Mode;
  readonly message: string;
  readonly title?: string;
  readonly description?: string;
  readonly requestedSchema?: FormSchema;
  readonly url?: string;
  readonly completion?: Completion;
  readonly sensitive?: true;
  readonly onUnavailable?: OnUnavailable;
  /** Receives a webhook when the elicitation ends. It may contain a secret of the asker, so it is never shown. */
  readonly webhookUrl?: string;
  readonly context: Context;
  readonly timeoutSeconds: number;
  /** W3C traceparent of the asking span, so that answer and resume can link to it from any pod. */
  readonly traceparent?: string;
}

/**
 * The stored elicitation. `revision` starts at 1 and rises by one with every commit; times are ms on the Redis clock.
 */
export interface Row {
  readonly id: string;
  readonly definition: Definition;
  readonly status: Status;
  readonly revision: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settlement?: Settlement;
  readonly settledAt?: number;
}

export interface WireOptions {
  /** Redis clock in ms. It becomes `serverTime`. */
  readonly now: number;
  /** True includes the answer, which is for the asker and the owner only, and never for an event. */
  readonly content: boolean;
}

/** Converts the row to the form in which callers see it. */
export function toWire(row: Row, options: WireOptions): Elicitation {
  const {
    tenant: _tenant,
    timeoutSeconds: _timeout,
    traceparent: _trace,
    // The asker's own default is for its run alone. On a card it would look like the person's answer.
    onUnavailable: _fallback,
    webhookUrl: _webhookUrl,
    ...asked
  } = row.definition;
  const settled = row.settlement;
  return {
    elicitationId: row.id,
    ...asked,
    status: row.status,
    ...(settled?.action !== undefined && { action: settled.action }),
    ...(options.content && settled?.content !== undefined && { content: settled.content }),
    ...(settled?.reason !== undefined && { reason: settled.reason }),
    createdAt: isoOf(row.createdAt),
    expiresAt: isoOf(row.expiresAt),
    ...(row.settledAt !== undefined && { settledAt: isoOf(row.settledAt) }),
    ...(settled?.surface !== undefined && { settledBy: { surface: settled.surface } }),
    serverTime: isoOf(options.now),
  } as Elicitation;
}

function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
