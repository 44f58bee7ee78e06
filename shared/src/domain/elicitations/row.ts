/**
 * The stored form of an elicitation and its conversion to the wire form, in one place, so that a private field is not shown by
 * accident. The rules for changing a row are in `transition.ts`.
 */

import type { Risk } from '@parley/core/domain/approvals/risk';
import type { Context, Elicitation, OnUnavailable } from '@parley/core/domain/elicitations/elicitation';
import type { Completion, Mode, Status } from '@parley/core/domain/elicitations/status';
import type { Extension } from '@parley/core/domain/family';
import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { StreamRef } from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import { tagsOf } from '@parley/core/domain/tags';
import { isoOf } from '@parley/core/domain/text';
import type { Settlement } from './settlement.ts';

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
  /**
   * The hosted page for a form that its client cannot show. The client shows the form as a url question (`asClientShows`). An
   * accept without content is then only consent to open the page, not an answer.
   */
  readonly answerUrl?: string;
  readonly sensitive?: true;
  readonly onUnavailable?: OnUnavailable;
  /**
   * The address that receives a webhook when the elicitation ends. It may contain a secret of the asker, so it is never shown.
   */
  readonly webhookUrl?: string;
  /** The channel that is told of every change, and the rules for notifying the person. */
  readonly notify?: NotifyRules;
  /** How much harm a wrong answer can do, in the asker's judgement. */
  readonly risk?: Risk;
  readonly context: Context;
  /** Labels by which operators find the question. */
  readonly tags?: readonly string[];
  readonly timeoutSeconds: number;
  /** The service key that asked, for logs. Absent where Parley itself asked. */
  readonly askedBy?: string;
  /** The W3C traceparent of the asking span, so that later spans can link to it from any pod. */
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
  /** The commits that moved the deadline, oldest first. */
  readonly extensions?: readonly Extension[];
}

interface WireOptions {
  /** The Redis clock in ms, shown as `serverTime`. */
  readonly now: number;
  /** True includes the answer. Only the asker and the owner may get it, and no event may contain it. */
  readonly content: boolean;
}

/** Converts the row to the form that callers see. */
export function toWire(row: Row, options: WireOptions): Elicitation {
  const settled = row.settlement;
  return {
    elicitationId: row.id,
    ...shownOf(row.definition),
    status: row.status,
    ...(settled?.action !== undefined && { action: settled.action }),
    ...(options.content && settled?.content !== undefined && { content: settled.content }),
    ...(settled?.reason !== undefined && { reason: settled.reason }),
    createdAt: isoOf(row.createdAt),
    expiresAt: isoOf(row.expiresAt),
    ...(row.settledAt !== undefined && { settledAt: isoOf(row.settledAt) }),
    ...(settled?.surface !== undefined && { settledBy: { surface: settled.surface } }),
    serverTime: isoOf(options.now),
  };
}

/**
 * The part of the question that callers see. It lists the visible fields by name, so that neither a private field of this build
 * nor one of a newer build is shown. The asker's default (`onUnavailable`) is for its run alone; on a card it would look like
 * the person's answer.
 */
function shownOf(definition: Definition) {
  const { title, description, requestedSchema, url, completion, answerUrl, sensitive, risk, ...asked } =
    definition;
  return {
    streamRequestId: asked.streamRequestId,
    conversationId: asked.conversationId,
    userId: asked.userId,
    mode: asked.mode,
    message: asked.message,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(requestedSchema !== undefined && { requestedSchema }),
    ...(url !== undefined && { url }),
    ...(completion !== undefined && { completion }),
    ...(answerUrl !== undefined && { answerUrl }),
    ...(sensitive !== undefined && { sensitive }),
    ...(risk !== undefined && { risk }),
    context: asked.context,
    ...tagsOf(asked),
  };
}
