import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal, STATUSES } from '@parley/core/domain/elicitations/status';
import { bucketOfElicitationId } from '@parley/core/domain/ids';
import { z } from 'zod';
import { type Row, toWire } from '../elicitations/row.ts';

/** Types of webhooks: `elicitation.` and the terminal status. */
export const WEBHOOK_TYPES = STATUSES.filter(isTerminal).map((status) => `elicitation.${status}` as const);

/** The body of a webhook (Standard Webhooks 1.0). It is byte for byte the same at every attempt. */
export const WebhookEvent = z
  .object({
    type: z.enum(WEBHOOK_TYPES),
    timestamp: z.iso.datetime().describe('When the elicitation ended.'),
    data: Elicitation.describe(
      'The elicitation as its asker sees it. With `sensitive: true` it has no `content`: read it with GET.',
    ),
  })
  .meta({ id: 'WebhookEvent' });
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** Converts an ended elicitation to its webhook event. Undefined while it is open. */
export function webhookEventOf(row: Row): WebhookEvent | undefined {
  const { status, settledAt } = row;
  if (!isTerminal(status) || settledAt === undefined) return undefined;
  // `settledAt` serves as the time, so that all attempts have the same body.
  const data = toWire(row, { now: settledAt, content: row.definition.sensitive !== true });
  return { type: `elicitation.${status}`, timestamp: data.serverTime, data };
}

/** Why an attempt to deliver a webhook failed, or why no attempt can be made. */
export const WEBHOOK_FAULTS = [
  /** The URL may not be called. */
  'refused_url',
  /** The host is a non-public address, or resolves to one. */
  'refused_address',
  /** The host has no address. */
  'unresolved',
  'timeout',
  /** The connection failed. */
  'failed',
  /** The receiver replied with a status other than 2xx. */
  'status',
  /** The receiver replied 410, which forbids further attempts. */
  'gone',
  /** The tenant has no signing secret any more. */
  'no_secret',
] as const;
export type WebhookFault = (typeof WEBHOOK_FAULTS)[number];

const PREFIX = 'msg_';

/** The `webhook-id` of an elicitation's webhook, and the id of its delivery: the same at every attempt. */
export function webhookIdOf(elicitationId: string): string {
  return `${PREFIX}${elicitationId}`;
}

/** True for an id of the form that `webhookIdOf` makes. */
export function isWebhookId(id: string): boolean {
  return id.startsWith(PREFIX) && bucketOfElicitationId(id.slice(PREFIX.length)) !== undefined;
}
