import { ParleyError } from '@parley/core/domain/errors';
import { parseStreamPath } from '@parley/core/domain/ids';
import { A2A_DELIVER, A2A_PUSH } from '@parley/shared/delivery/a2a-push/store';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { notFound } from '@parley/shared/domain/caller';
import { z } from 'zod';
import type { AdminDeps } from './deps.ts';

/** The body of a request to repeat a delivery. */
export const RedeliverInput = z
  .strictObject({
    by: z
      .string()
      .min(1)
      .max(64)
      .describe('`webhook`; `a2a` for the updates of a turn; or the name of a channel such as `slack`.'),
  })
  .meta({ id: 'RedeliverInput' });

/** The body of a request to repeat a delivery of a turn. */
export const RedeliverOfTurnInput = RedeliverInput.extend({
  deliveryId: z
    .string()
    .max(1_000)
    .optional()
    .describe('One outstanding delivery, as the list of deliveries names it. Absent: all of the turn.'),
}).meta({ id: 'RedeliverOfTurnInput' });

/** The reply: a worker will make the delivery. */
export const Redelivered = z.object({ outstanding: z.literal(true) });

/** The delivery to repeat. */
interface Redelivery {
  readonly tenant: string;
  /** The id of a record, or the path of a turn. */
  readonly subject: string;
  readonly bucket: number;
  /** The id of its webhook, if it can have one. */
  readonly webhook?: string | undefined;
  /** The only outstanding delivery of the turn that is meant, by the subject of its task. */
  readonly only?: string | undefined;
}

/**
 * Repeats a delivery. An outstanding one is made at once, and its attempts are counted anew. Throws `not_found` for a webhook
 * that is neither outstanding nor a dead letter, and for a turn's delivery that is not outstanding. Throws `invalid_request`
 * for a kind that is not configured, because nothing would ever handle the task.
 */
export async function redeliver(
  {
    webhooks,
    outbox,
    channel,
    pushHostOf,
  }: Pick<AdminDeps, 'webhooks' | 'outbox' | 'channel' | 'pushHostOf'>,
  by: string,
  { tenant, subject, bucket, webhook, only }: Redelivery,
): Promise<void> {
  if (by === 'webhook') {
    if (webhook === undefined) throw notFound();
    const task = webhookTask(subject, bucket);
    if ((await outbox.find(task)) === undefined) await webhooks.redrive({ tenant, deliveryId: webhook });
    else await outbox.add(task, tenant);
    return;
  }
  const isPush = by === 'a2a' && pushHostOf !== undefined && parseStreamPath(subject) !== undefined;
  if (!isPush && by !== channel?.name)
    throw new ParleyError('invalid_request', 'The body is not well formed; see errors.', {
      issues: [{ path: 'by', message: 'names no way of delivery that is configured here' }],
    });
  if (only === undefined) {
    const task = { kind: isPush ? A2A_PUSH : by, subject, bucket };
    return outbox.add(task, isPush ? undefined : tenant);
  }
  const task = { kind: isPush ? A2A_DELIVER : by, subject: only, bucket };
  if ((await outbox.find(task)) === undefined) throw notFound();
  await outbox.add(task, tenant);
}
