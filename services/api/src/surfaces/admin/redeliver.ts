import { ParleyError } from '@parley/core/domain/errors';
import { parseStreamPath } from '@parley/core/domain/ids';
import { A2A_PUSH } from '@parley/shared/delivery/a2a-push/store';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { notFound } from '@parley/shared/domain/caller';
import { z } from 'zod';
import type { AdminDeps } from './deps.ts';

/** The body of a request to deliver again. */
export const RedeliverInput = z
  .strictObject({
    by: z
      .string()
      .min(1)
      .max(64)
      .describe('`webhook`; `a2a` for the updates of a turn; or the name of a channel such as `slack`.'),
  })
  .meta({ id: 'RedeliverInput' });

/** The reply: a worker delivers it. */
export const Redelivered = z.object({ outstanding: z.literal(true) });

/** What is to be delivered again. */
interface Redelivery {
  readonly tenant: string;
  /** The id of a record, or the path of a turn. */
  readonly subject: string;
  readonly bucket: number;
  /** The id of its webhook, where it can have one. */
  readonly webhook?: string | undefined;
}

/**
 * Delivers something again; what is outstanding, at once and from its first attempt on. Throws `not_found` for a webhook that is neither
 * outstanding nor a dead letter, and `invalid_request` for a way that is not configured: nothing would ever handle the task.
 */
export async function redeliver(
  {
    webhooks,
    outbox,
    channel,
    pushHostOf,
  }: Pick<AdminDeps, 'webhooks' | 'outbox' | 'channel' | 'pushHostOf'>,
  by: string,
  { tenant, subject, bucket, webhook }: Redelivery,
): Promise<void> {
  if (by === 'webhook') {
    if (webhook === undefined) throw notFound();
    const task = webhookTask(subject, bucket);
    if ((await outbox.find(task)) === undefined) await webhooks.redrive({ tenant, deliveryId: webhook });
    else await outbox.add(task, tenant);
  } else if (by === 'a2a' && pushHostOf !== undefined && parseStreamPath(subject) !== undefined) {
    await outbox.add({ kind: A2A_PUSH, subject, bucket });
  } else if (by === channel?.name) {
    await outbox.add({ kind: by, subject, bucket }, tenant);
  } else {
    throw new ParleyError('invalid_request', 'The body is not well formed; see errors.', {
      issues: [{ path: 'by', message: 'names no way of delivery that is configured here' }],
    });
  }
}
