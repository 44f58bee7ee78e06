import { z } from 'zod';
import { Elicitation } from '../elicitations/elicitation.ts';
import { type Row, toWire } from '../elicitations/row.ts';
import { isTerminal, STATUSES } from '../elicitations/status.ts';
import { bucketOfElicitationId } from '../ids.ts';

/** What webhooks tell: `elicitation.` and how it ended. */
export const WEBHOOK_TYPES = STATUSES.filter(isTerminal).map((status) => `elicitation.${status}` as const);

/** The body of a webhook (Standard Webhooks 1.0): the same, byte for byte, at every attempt. */
export const WebhookEvent = z
  .object({
    type: z.enum(WEBHOOK_TYPES),
    timestamp: z.iso.datetime().describe('When it ended.'),
    data: Elicitation.describe(
      'The elicitation as its asker sees it. With `sensitive: true` it has no `content`: read it with GET.',
    ),
  })
  .meta({ id: 'WebhookEvent' });
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** The event of an ended elicitation; nothing while it is open. */
export function webhookEventOf(row: Row): WebhookEvent | undefined {
  const { status, settledAt } = row;
  if (!isTerminal(status) || settledAt === undefined) return undefined;
  // The clock of the ending, so that no two attempts differ.
  const data = toWire(row, { now: settledAt, content: row.definition.sensitive !== true });
  return { type: `elicitation.${status}`, timestamp: data.serverTime, data };
}

/** Why an attempt to deliver a webhook failed, or why there is none to make. */
export const WEBHOOK_FAULTS = [
  /** The URL is none that may be called. */
  'refused_url',
  /** Its host is, or leads to, an address that is not public. */
  'refused_address',
  /** Its host has no address. */
  'unresolved',
  'timeout',
  /** The connection could not be made, or broke. */
  'failed',
  /** The receiver replied with another status than 2xx. */
  'status',
  /** The receiver replied 410: it wants no more of it. */
  'gone',
  /** The tenant has no secret to sign with any more. */
  'no_secret',
] as const;
export type WebhookFault = (typeof WEBHOOK_FAULTS)[number];

const PREFIX = 'msg_';

/** The `webhook-id` of an elicitation's webhook, and the id of its delivery: the same at every attempt. */
export function webhookIdOf(elicitationId: string): string {
  return `${PREFIX}${elicitationId}`;
}

/** True for an id that `webhookIdOf` gives. */
export function isWebhookId(id: string): boolean {
  return id.startsWith(PREFIX) && bucketOfElicitationId(id.slice(PREFIX.length)) !== undefined;
}
